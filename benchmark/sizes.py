"""Ladders of sizes for timing, from launch-bound to bandwidth-bound."""

POINTS = ((1 << 12,), (1 << 18,), (1 << 22,), (1 << 25,))
"""Lengths for pointwise operators."""
ROWS = ((64, 512), (1024, 1024), (4096, 4096), (8192, 8192))
"""Rows and columns for what is reduced along rows."""
LOGITS = ((256, 1000), (4096, 1000), (4096, 8192), (4096, 32000))
"""Rows and classes."""
SQUARES = ((256,), (1024,), (2048,), (4096,))
"""Sides of square matrices."""
