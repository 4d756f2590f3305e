import json

from hypothesis import given
from hypothesis import strategies as st

from tools.executor import claims

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text() | st.sampled_from(["kind", "message", "detail", "kernels", "error"]), inner)
    ),
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
