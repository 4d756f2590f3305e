"""What is asked: tasks, suites, contracts, checkers and lint."""
