"""What is said: Jinja2 templates by role, and Triton facts."""
