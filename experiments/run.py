"""Runs a scaffold on tasks: `python -m experiments.run scaffold=geak rounds=5`. `--help` names every choice."""

import sys

from benchmark.console import show
from benchmark.errors import UserError


def main() -> int:
    """Collects all configs, validates all, then runs all.

    Exit codes: 0 done, 1 our own fault, 2 user error, 4 no verdict on a task, 75 waiting for a batch, 130 interrupted.
    """
    try:
        if {"-h", "--help"} & set(sys.argv[1:]):
            from experiments.usage import text

            show(text(sys.argv[1:]))
            return 0
        from experiments.collect import collect

        collected = collect()
        if not collected:
            return 0
        from experiments.runner import run

        return run(collected)
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
