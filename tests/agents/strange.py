"""JSON as no provider should send it: the fields of replies, with anything in them."""

from hypothesis import strategies as st

FIELDS = "choices message content refusal tool_calls function usage model id finish_reason stop_reason service_tier text type"
NAMES = st.sampled_from(FIELDS.split())
SCALARS = st.none() | st.booleans() | st.integers() | st.text()
JSON = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3), max_leaves=4)
SHAPED = st.recursive(JSON, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=5), max_leaves=20)
