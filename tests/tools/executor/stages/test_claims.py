import json

from hypothesis import given
from hypothesis import strategies as st

from tools.executor.stages import claims

FIELDS = ["kind", "message", "detail", "kernels", "error", "kernel", "tensor", "index", "program", "programs", "lanes", "flops"]
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text() | st.sampled_from(FIELDS), inner),
    max_leaves=12,
)


@given(anything)
def test_any_report_becomes_a_failure_that_is_no_pass(report):
    found = claims.failure(report)
    assert found.kind in claims.KINDS
    json.dumps(found.detail, allow_nan=False).encode()


@given(anything)
def test_any_compile_report_takes_the_expected_form(report):
    for found in claims.compiles([report]):
        assert set(found) == {"target", "kernels", "seconds", "error"}
        json.dumps(found, allow_nan=False)


def test_verdicts_that_spare_the_candidate_cannot_be_claimed():
    for kind in ("pass", "infra_error", "task_invalid"):
        assert claims.failure({"kind": kind, "message": "x"}).kind == "runtime_error"


@given(st.lists(anything, max_size=4) | anything)
def test_any_findings_take_the_expected_form_and_length(reports):
    for found in claims.accesses(reports):
        assert set(found) == {"kernel", "kind", "tensor", "index", "program", "lanes"}
    for found in claims.races(reports):
        assert set(found) == {"kernel", "kind", "tensor", "index", "programs", "lanes"}
        assert len(found["programs"]) <= 2
    assert all(isinstance(sentence, str) and len(sentence) <= 500 for sentence in claims.advisories(reports))
    json.dumps([claims.accesses(reports), claims.races(reports), claims.advisories(reports)], allow_nan=False)


@given(anything)
def test_any_traffic_becomes_numbers(report):
    found = claims.traffic(report)
    assert set(found) == {"sectors_loaded", "sectors_stored", "flops"}
    assert all(type(number) is int and 0 <= number < 1 << 64 for number in found.values())


def test_findings_beyond_a_bound_are_dropped():
    many = [{"kernel": "k" * 5000, "lanes": 1}] * 1000
    assert len(claims.accesses(many)) == len(claims.races(many)) == claims.MOST
    assert len(claims.accesses(many)[0]["kernel"]) == 200
    assert claims.advisories(["same"] * 5) == ["same"]


def test_atomics_load_and_store():
    traffic = {"sectors_loaded": 64, "sectors_stored": 32, "sectors_atomic": 320, "flops": 7}
    assert claims.traffic(traffic) == {"sectors_loaded": 384, "sectors_stored": 352, "flops": 7}
