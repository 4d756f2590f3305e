"""What counts as computation by torch, from rows that a sandbox reports."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tools.executor.aten import KERNEL, LOOKUP, TOGETHER, TRANSFER
from tools.executor.stages.torch_work import TorchWork
from tools.executor.used import Used, moves

JUNK = st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=5), lambda inner: st.lists(inner, max_size=7))


def judged(rows, sizes=(("x", 1000), ("w", 10)), largest=1000, moves=(), operators=(), held_out=False, **answer) -> TorchWork:
    """One call in a case with arguments of these sizes."""
    work = TorchWork()
    check = {"largest": largest, "moves": list(moves), "operators": list(operators)}
    work.note({"name": "case", "held_out": held_out}, {"tensors": [list(s) for s in sizes]}, check, {"torch": rows} | answer)
    return work


def counts(*row, **options) -> bool:
    return judged([list(row)], **options).computed() is not None


X, W, MADE = [0], [1], []


@pytest.mark.parametrize("op", ["empty_like", "zeros", "fill_", "arange", "clone", "_to_copy", "copy_", "constant_pad_nd", "cat", "alias"])
def test_memory_fills_copies_and_glue_are_free(op):
    assert not counts(op, X, False, 3, 1000, 3000)


@pytest.mark.parametrize("op", ["_softmax", "mm", "sum", "add", "sort", "where", "native_dropout", "an_operator_of_tomorrow", TRANSFER])
def test_everything_else_on_an_argument_is_computation(op):
    assert counts(op, X, False, 1, 1000, 1000)
    assert counts(op, X, False, 1, 125, 125)


def test_a_small_part_of_an_argument_is_no_share():
    assert not counts("add", X, False, 1, 124, 124)


def test_small_steps_of_one_call_are_taken_together():
    assert counts("add", X, False, 20, 10, 200)
    assert judged([["mul", X, False, 1, 90, 90], ["add", X, False, 1, 90, 90]]).computed()
    assert judged([["sum", MADE, False, 6, 100, 600]]).computed()


def test_what_a_kernel_may_have_put_into_a_small_argument_is_not_its_preparation():
    sizes = (("x", 1000), ("w", 900), ("b", 10))
    small = judged([], sizes=(("x", 1000), ("w", 9), ("b", 10)))
    check = {"largest": 1000, "moves": [], "operators": []}
    layout = {"tensors": [list(size) for size in sizes]}
    small.note({"name": "as large", "held_out": False}, layout, check, {"torch": [["gelu", W, False, 1, 900, 900]]})
    assert small.computed() is None
    small.note({"name": "as large", "held_out": False}, layout, check, {"torch": [["gelu", [*W, KERNEL], False, 1, 900, 900]]})
    assert small.computed()


def test_moves_that_add_up_or_look_up_are_computation():
    assert counts("index_put_" + TOGETHER, X, False, 1, 1000, 1000)
    assert counts("index" + LOOKUP, X, False, 1, 1000, 1000)


def test_preparing_a_small_argument_is_free_even_where_it_is_as_large_as_the_others():
    work = judged([["add", W, False, 1, 10, 10]])
    check = {"largest": 10, "moves": [], "operators": []}
    work.note({"name": "one row", "held_out": False}, {"tensors": [["x", 10], ["w", 10]]}, check, {"torch": [["add", W, False, 1, 10, 10]]})
    assert work.computed() is None


def test_partial_results_may_be_summed_and_whole_ones_not():
    assert not counts("sum", MADE, False, 1, 500, 500)
    assert counts("sum", MADE, False, 1, 501, 501)


def test_a_fallback_for_one_small_shape_counts():
    work = judged([])
    small = {"largest": 6, "moves": [], "operators": []}
    work.note({"name": "tiny", "held_out": True}, {"tensors": [["x", 6], ["w", 2]]}, small, {"torch": [["_softmax", X, False, 1, 6, 6]]})
    case, row = work.computed()
    assert (case["name"], row.op) == ("tiny", "_softmax")
    assert work.summary() == []


def test_moving_elements_counts_where_the_reference_moves_them_so():
    assert counts("roll", X, False, 1, 1000, 1000, moves=["roll"])
    assert not counts("cat", X, False, 1, 1000, 1000, moves=["roll"])


def test_a_copy_counts_where_copying_is_the_task_unless_it_is_of_a_whole_argument():
    assert counts("clone", X, False, 1, 1000, 1000, moves=["clone"])
    assert not counts("clone", X, True, 1, 1000, 1000, moves=["clone"])


def test_what_no_mode_was_shown_counts_as_work_on_the_arguments():
    found = judged([], unseen=[["_softmax", 1, 1000]]).computed()
    assert found[1].where
    assert judged([], unseen=[["_softmax", 1, 1]]).computed() is None
    assert judged([], unseen=[["alias", 9, 1000], ["clone", 1, 1000]]).computed() is None


def test_a_table_that_torch_made_at_import_counts_if_the_reference_uses_its_operator():
    assert judged([], tables=[["silu", 65536]], operators=["silu"]).computed()
    assert judged([], tables=[["cos", 65536]], operators=["silu"]).computed() is None


def test_a_row_that_was_told_counts_though_the_answer_leaves_it_out():
    assert judged([], told=[["_softmax", X, False, 1, 1000, 1000]]).computed()
    assert not judged([["add", X, False, 1, 90, 90]], told=[["add", X, False, 1, 90, 90]]).computed()


@given(JUNK, JUNK, JUNK, JUNK)
def test_forged_rows_do_no_harm(rows, unseen, tables, told):
    for row in judged(rows, unseen=unseen, tables=tables, told=told).summary():
        assert set(row) == {"op", "calls", "elements", "compute"}
        assert isinstance(row["op"], str)
        assert row["calls"] >= 0
        assert row["elements"] >= 0


def used(function, *tensors):
    with Used() as used:
        function(*tensors)
    return moves(used.names)


def test_what_a_reference_moves_is_found():
    x = torch.randn(4, 6)
    assert "clone" in used(lambda x: x.t().contiguous(), x)
    assert used(lambda x: torch.cat([x.roll(1, 0), x]), x) >= {"cat", "roll", "flip"}
    assert used(lambda x: torch.cat([x.relu(), x]), x) == {"cat"}
    assert used(lambda x: x.t().contiguous().softmax(0), x) == frozenset()
