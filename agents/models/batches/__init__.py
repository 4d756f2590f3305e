"""Half-price batches: requests go to a provider together, and replies come hours later. One module per provider, and one for files."""
