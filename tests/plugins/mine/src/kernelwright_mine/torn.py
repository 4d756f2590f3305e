"""A scaffold whose author has left something out."""

import a_package_that_nobody_has  # noqa: F401
