"""Arguments in the order in which a candidate is called."""

from typing import Any

from benchmark import suites
from benchmark.checkers import close
from benchmark.task import Contract, Task
from tools.executor.arguments import bind


def task_of(function: Any) -> Task:
    return Task("own/task", "Own", "own", function, (), (), Contract(close()))


def test_each_argument_for_a_starred_parameter_has_a_place_of_its_own():
    positional, keywords = bind(task_of(lambda *size, dtype=None: size), {"size": (4, 5), "dtype": "float32"})
    assert (list(positional.values()), keywords) == ([4, 5], {"dtype": "float32"})


def test_defaults_fill_the_gaps_between_positional_arguments():
    positional, keywords = bind(task_of(lambda a, b=2, c=3, d=4: a), {"a": 1, "c": 9})
    assert (positional, keywords) == ({"a": 1, "b": 2, "c": 9}, {})


def test_nothing_for_a_starred_parameter_is_nothing():
    task = suites.find("kernelbench_x/rand")
    positional, keywords = bind(task, {"device": None})
    assert (positional, keywords) == ({}, {"device": None})
