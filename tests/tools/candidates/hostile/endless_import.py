"""Never comes back from its import. Expected: timeout"""
while True:
    pass
