"""The stages of an evaluation, in the broker: they decide, and believe the judge only; what a sandbox says can worsen a verdict."""
