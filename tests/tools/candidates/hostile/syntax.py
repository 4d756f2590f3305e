"""No Python.

Row: none (plain mistake).
Expected: syntax_error at parse.
"""
def softmax(input, dim, dtype=None)
    return input
