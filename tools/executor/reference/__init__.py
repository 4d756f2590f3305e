"""Inside a reference sandbox: a foreign task file, which draws inputs and computes right answers there. It is believed about itself only.

A reference sandbox is a sandbox like any other, behind the same walls and on the same wire; what runs in it is not a candidate but
the user's file with an adapter of ours (`own`, `models`, `recorded`), which answers `room`'s requests.
"""
