"""How long one call of a candidate may be interpreted."""

from tools.simulated.errors import Unsupported

MOST_SECONDS = 15.0
"""Less than a case's deadline, so that a launch that is merely too big for the interpreter is told from one that hangs."""


class Budget:
    """Seconds of interpretation since the inputs came."""

    def __init__(self, most: float = MOST_SECONDS) -> None:
        self.most = most
        self.spent = 0.0

    def renew(self) -> None:
        self.spent = 0.0

    def spend(self, seconds: float, kernel: str, done: int, programs: int) -> None:
        """Takes the seconds of one program, the `done`th of a launch; `Unsupported` when all are used up and more is to be done."""
        self.spent += seconds
        if self.spent > self.most and done < programs:
            raise Unsupported(
                f"The simulated device interprets a call {self.most:g} s at most; {done} of the {programs} programs of {kernel} had run.",
                kernel=kernel,
            )


budget = Budget()
