"""One self-contained HTML page of one run or several."""
