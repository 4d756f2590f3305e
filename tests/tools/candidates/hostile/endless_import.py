"""Never comes back from its import.

Row: 47 (infinite loop on the host, at import).
Expected: timeout at import.
"""
while True:
    pass
