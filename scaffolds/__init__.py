"""How agents work together: LangGraph state machines, one file each, and the plugin loader."""
