"""The candidate's own process, trusted by nobody once the candidate is imported: all that it says is self-reported."""
