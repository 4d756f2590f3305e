"""Never comes back. Expected: timeout"""


def softmax(input, dim, dtype=None):
    while True:
        pass
