"""Data that others published, read from a checkout of the user's: what it says when it is recomputed."""
