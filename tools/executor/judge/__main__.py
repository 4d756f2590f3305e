"""`python -m tools.executor.judge FD`: the judge's process."""

import sys

from tools.executor.judge.judge import main

if __name__ == "__main__":
    main(int(sys.argv[1]))
