"""What is wrong with a task itself."""


class TaskFault(Exception):
    """The task's own code failed: a generator, the reference, a checker."""
