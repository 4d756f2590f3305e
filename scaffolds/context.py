"""What a scaffold's nodes work with: LangGraph's runtime context. `ask` and `evaluate` are the only ways to a model and to the executor."""
