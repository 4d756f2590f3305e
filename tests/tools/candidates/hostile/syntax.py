"""No Python. Expected: syntax_error"""
def softmax(input, dim, dtype=None)
    return input
