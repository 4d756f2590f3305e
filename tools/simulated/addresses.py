"""Addresses of device memory: those that candidates are told are none of the host's, so that following one there faults, as on a GPU.

A real address needs no more than 48 bits. A told one has a tag in the bits above that makes it non-canonical on the host's processor
and leaves its alignment, its differences, and its sign as 64-bit integer as they are. A kernel's pointers have the number of their
tensor in the place of the tag; integers that it makes pointers of may have the tag.
"""

SHIFT = 48
MASK = (1 << SHIFT) - 1
TAG = 0x7070
"""Also in the lowest of the bits above, for processors that ignore the highest ones."""
UNOWNED = (0, TAG)
"""What pointers have in these bits that are not known to be made from a tensor."""


def told(address: int) -> int:
    """The address as a candidate is told it; null stays null."""
    return address | TAG << SHIFT if address else 0
