"""Trackers of experiments that a run can be handed to: W&B and MLflow, each an extra, both without a network."""
