"""What a third party publishes: `twice` works; `torn` does not, and must harm nobody."""
