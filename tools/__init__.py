"""What agents can do: the executor (compile, test, profile), platforms and command-line tools."""
