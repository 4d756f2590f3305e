"""A run in the terminal, as it goes or when it is over. Textual is imported here only."""
