"""Adds up what a run used and cost from its own files, without any of the project's code, and compares the audit's report with it.

  python -m experiments.audit run=runs/<id> format=json > report.json
  python benchmarks/readd.py runs/<id> report.json

Usage of each line of calls.jsonl times its model's rates in prices.json, per role, trajectory and task. Exit code 3 where they differ.
"""

import json
import math
import sys
from collections import defaultdict
from pathlib import Path

PROMPT = ("input", "cache_read", "cache_write_5m", "cache_write_1h")


def cost(usage, row, tier):
    """USD, or None where a rate is unknown. Rates are USD per million tokens, and others hold above a length of the prompt."""
    factor = {"standard": 1.0, "batch": row["batch"]}.get(tier) if row else None
    if factor is None:
        return None
    long = row["long"] and sum(usage[kind] for kind in PROMPT) > row["long_above"]
    rates = row["long"] if long else row["rates"]
    used = [kind for kind in (*PROMPT, "output") if usage[kind]]  # Reasoning is a part of output.
    if any(rates[kind] is None for kind in used):
        return None
    return factor * sum(usage[kind] * rates[kind] for kind in used) / 1e6


def main(run, report):
    rows = json.loads((run / "prices.json").read_text())["models"]
    tokens, usd = defaultdict(int), defaultdict(list)
    for text in (run / "calls.jsonl").read_text().split("\n")[:-1]:
        line = json.loads(text)
        usage, trajectory = line["usage"], line["identity"]["trajectory"]
        for name in (("role", line["identity"]["role"]), ("trajectory", trajectory), ("task", trajectory.rpartition("@")[0])):
            tokens[name] += sum(usage[kind] for kind in (*PROMPT, "output")) if usage else 0
            usd[name].append((cost(usage, rows.get(line["model_asked"]), line["tier"]) if usage else None) or 0.0)
    wrong = 0
    for by in ("role", "trajectory", "task"):
        for name in sorted({*report["by"][by], *(name for group, name in tokens if group == by)}):
            told = report["by"][by].get(name, {"tokens_at_least": None, "usd_at_least": None})
            mine = (tokens[by, name], math.fsum(usd[by, name]))
            same = told["tokens_at_least"] == mine[0] and math.isclose(told["usd_at_least"] or 0.0, mine[1], abs_tol=1e-12)
            wrong += not same
            print(f"{by} {name}: {mine[0]} tokens, ${mine[1]:.6f}" + ("" if same else f"; the report says {told}"))
    print(f"{wrong or 'no'} differences")
    return 3 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), json.loads(Path(sys.argv[2]).read_text())))
