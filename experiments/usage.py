"""The text of `python -m experiments.run --help`, made from what is installed."""

from collections.abc import Iterator, Sequence
from dataclasses import MISSING, fields
from pathlib import Path

from benchmark import suites
from scaffolds import loader
from scaffolds.options import default, documented

TEXT = """\
usage: python -m experiments.run [-m] [key=value ...]

Runs a scaffold on tasks: a model writes Triton kernels, the executor compiles, tests and times them.
Every iteration is recorded in runs/<run_id>/.

scaffolds:  {scaffolds}
suites:     {suites}

options of scaffold={chosen} (scaffold=NAME --help shows another's):
{options}

keys and defaults:
{keys}

examples:
  python -m experiments.run scaffold=geak rounds=5                        the embedded model, no key needed
  python -m experiments.run scaffold=oneshot benchmark.limit=3            a quick look
  python -m experiments.run scaffold=oneshot scaffold.tokens=200000       samples for so many tokens a task: the fair control arm
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


DEFAULT = "geak"


def text(words: Sequence[str] = ()) -> str:
    """The help for a command line so far. Raises `UserError` for a scaffold that there is not, or that is broken."""
    chosen = next((word.removeprefix("scaffold=") for word in words if word.startswith("scaffold=")), DEFAULT).split(",")[0]
    names, keyed = ", ".join(loader.names()), "\n".join(options(chosen))
    return TEXT.format(scaffolds=names, suites=", ".join(suites.names()), chosen=chosen, options=keyed, keys=keys())


def options(scaffold: str) -> Iterator[str]:
    kind = loader.config_of(scaffold)
    said = documented(kind)
    for field in fields(kind):
        value = default(field)
        shown = "(must be given)" if value is MISSING else "null" if value is None else value
        yield f"  scaffold.{field.name}: {shown}" + (f"  # {said[field.name]}" if field.name in said else "")


def keys() -> str:
    """The keys as the packaged YAML documents them, with those of the two groups."""
    shown = (CONF / "config.yaml").read_text().partition("\n\n")[2].rpartition("\nhydra:")[0].splitlines()
    for group, name in (("benchmark", "quick"), ("executor", "local")):
        shown += [f"{group}:", *(f"  {line}" for line in (CONF / group / f"{name}.yaml").read_text().splitlines())]
    return "\n".join(f"  {line}" for line in shown if line)
