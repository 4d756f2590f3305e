"""Convolution of KernelBench-X."""

from benchmark.task import Task

TASKS: tuple[Task, ...] = ()
