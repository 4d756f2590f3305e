def softmax(input, dim, dtype=None):
    while True:
        pass
