"""The text of `python -m experiments.run --help`, made from what is installed."""

from pathlib import Path

from benchmark import suites
from scaffolds import loader

TEXT = """\
usage: python -m experiments.run [-m] [key=value ...]

Runs a scaffold on tasks: a model writes Triton kernels, the executor compiles, tests and times them.
Every iteration is recorded in runs/<run_id>/.

scaffolds:  {scaffolds}
suites:     {suites}

keys and defaults (scaffold=NAME --cfg job shows all, with those of the scaffold):
{keys}

examples:
  python -m experiments.run scaffold=geak rounds=5                        the embedded model, no key needed
  python -m experiments.run scaffold=oneshot benchmark.limit=3            a quick look
  python -m experiments.run 'benchmark.tasks=[softmax,gelu]' model_args.flaws=0.5
  python -m experiments.run model=openai/qwen3 model_args.base_url=http://localhost:8000/v1 budget.tokens=2000000
  python -m experiments.run task=./my_ops.py:fused_bias_gelu              my own function
  python -m experiments.run -m scaffold=oneshot,geak seed=1,2,3           many runs under one budget
  python -m experiments.run resume=runs/<run_id>                          go on where a run stopped
  python -m experiments.run model=batch model_args.of=anthropic/NAME      half the price, in batches: ends with 75 until it is over
  python -m experiments.run model=replay model_args.source=runs/<run_id>  again on its recorded replies, at no cost

exit codes: 0 done, 1 our own fault, 2 wrong input, 4 a task could not be judged,
75 waiting for a batch and 130 interrupted (resume= continues both)"""


CONF = Path(__file__).parent / "conf"


def text() -> str:
    return TEXT.format(scaffolds=", ".join(loader.names()), suites=", ".join(suites.names()), keys=keys())


def keys() -> str:
    """The keys as the packaged YAML documents them, with those of the two groups."""
    shown = (CONF / "config.yaml").read_text().partition("\n\n")[2].rpartition("\nhydra:")[0].splitlines()
    for group, name in (("benchmark", "quick"), ("executor", "local")):
        shown += [f"{group}:", *(f"  {line}" for line in (CONF / group / f"{name}.yaml").read_text().splitlines())]
    return "\n".join(f"  {line}" for line in shown if line)
