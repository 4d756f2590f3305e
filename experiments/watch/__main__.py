"""A run in the terminal, live or finished: `python -m experiments.watch run=runs/<id>`.

  run=DIR        the run; another process may be writing it

Shows every trajectory that was asked for: state, node and role, last verdict, best speedup (measured, or modelled and said so), attempts,
tokens, USD, time and budgets left; below it the log. Enter leads into a trajectory, to its tree of attempts, and into an attempt:
verdict with numbers, cases, error, source, difference to its parents, prompt and reply. `?` tells the keys. Where standard output is no
terminal, one summary is printed instead. Nothing of the run is changed.
"""

import sys
from collections.abc import Sequence

from benchmark.console import show
from benchmark.errors import UserError
from experiments import keys
from experiments.watch.board import Board
from experiments.watch.tail import Reader
from experiments.watch.words import summary


def act(words: Sequence[str]) -> int:
    runs = keys.runs(keys.chosen(words, ("run",)), "experiments.watch")
    if len(runs) > 1:
        raise UserError("One run is watched at a time: name one with run=runs/<id>.")
    run = runs[0]
    board, reader = Board(run), Reader(run.path)
    if not sys.stdout.isatty():
        more = True
        while more:
            batch = reader.poll()
            board.take(batch)
            more = batch.more
        show(summary(board))
        return 0
    from experiments.watch.app import Watch

    app = Watch(board, reader)
    app.run()
    if app.fault:
        raise app.fault
    return app.return_code or 0


def main() -> int:
    return keys.command(str(__doc__), act)


if __name__ == "__main__":
    sys.exit(main())
