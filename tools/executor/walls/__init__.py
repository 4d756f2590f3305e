"""What stands between a candidate and the machine: trusted to hold it in and to tell how strong it is, not to judge; trusts no sandbox."""
