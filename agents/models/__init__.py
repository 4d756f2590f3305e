"""Models: what answers a prompt. `agents/models/base.py` has the words; one module per kind of model."""
