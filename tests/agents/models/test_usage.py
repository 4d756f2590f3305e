"""The same tokens, told in any dialect, are the same kinds."""

import json

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agents.models import usage
from agents.models.base import Usage
from tests.agents.strange import JSON
from tests.servers.dialects import anthropic_body, openai_body, responses_body

TOKENS = st.integers(0, 10**6)
USAGES = st.builds(
    lambda usage, reasoning: Usage(usage.input, usage.cache_read, usage.cache_write_5m, 0, usage.output, min(reasoning, usage.output)),
    st.builds(Usage, TOKENS, TOKENS, TOKENS, st.just(0), TOKENS),
    TOKENS,
)
ANYTHING = st.integers(-5, 50) | st.floats() | JSON
FIELDS = st.sampled_from(
    ["prompt_tokens", "completion_tokens", "input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens",
     "prompt_tokens_details", "completion_tokens_details", "cache_creation", "output_tokens_details", "cached_tokens", "cache_write_tokens",
     "reasoning_tokens", "ephemeral_1h_input_tokens"]
)  # fmt: skip
SHAPED = st.recursive(ANYTHING, lambda inner: st.dictionaries(FIELDS, inner, max_size=6), max_leaves=30)


@settings(deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow])
@given(USAGES)
def test_all_dialects_normalise_alike(logical: Usage) -> None:
    request = {"model": "m", "messages": []}
    assert usage.openai(openai_body(request, "", logical, "id")["usage"]) == (logical, "provider")
    assert usage.responses(responses_body(request, "", logical, "id")["usage"]) == (logical, "provider")
    assert usage.anthropic(anthropic_body(request, "", logical, "id")["usage"]) == (logical, "provider")


def test_both_lifetimes_of_a_cache_write_are_told_apart() -> None:
    raw = {
        "input_tokens": 1,
        "output_tokens": 2,
        "cache_creation_input_tokens": 30,
        "cache_creation": {"ephemeral_5m_input_tokens": 10, "ephemeral_1h_input_tokens": 20},
    }
    assert usage.anthropic(raw) == (Usage(1, 0, 10, 20, 2), "provider")


def test_write_without_a_lifetime_is_the_short_one() -> None:
    assert usage.anthropic({"input_tokens": 1, "output_tokens": 2, "cache_creation_input_tokens": 30})[0] == Usage(1, 0, 30, 0, 2)


def test_cached_tokens_are_not_counted_twice() -> None:
    raw = {"prompt_tokens": 1000, "completion_tokens": 10, "prompt_tokens_details": {"cached_tokens": 800}}
    assert usage.openai(raw) == (Usage(input=200, cache_read=800, output=10), "provider")


def test_figures_that_contradict_each_other_are_partial() -> None:
    raw = {"prompt_tokens": 5, "completion_tokens": 10, "prompt_tokens_details": {"cached_tokens": 800}}
    assert usage.openai(raw) == (Usage(cache_read=5, output=10), "partial")
    assert usage.openai({"prompt_tokens": 5})[1] == "partial"
    assert usage.anthropic({"output_tokens": 5})[1] == "partial"


@settings(deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow])
@given(SHAPED)
def test_no_usage_object_is_too_strange(raw: object) -> None:
    for read in (usage.openai, usage.responses, usage.anthropic):
        kinds, source = read(raw)
        assert (kinds is None) == (source == "unknown")
        if kinds is not None:
            assert min(vars(kinds).values()) >= 0
            assert kinds.reasoning <= kinds.output
            json.dumps(vars(kinds))
