"""Describes its output so that the judge would stumble, and the task seem at fault.

Row: none (infrastructure attack).
Expected: wrong_dtype at correctness.
"""
region = next(kind for kind in object.__subclasses__() if kind.__name__ == "Region")
region.write = lambda region, value: {"t": {"dtype": "float32", "shape": [1 << 47, 1 << 47], "strides": [0, 0], "offset": 0, "extent": 1}}


def softmax(input, dim, dtype=None):
    return input
