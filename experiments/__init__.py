"""What people run: run, audit, the run store and the Hydra configuration."""
