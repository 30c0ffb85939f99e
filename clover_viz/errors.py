"""The one error a user can cause."""


class UserError(ValueError):
    """A bad value from outside; its text is one line that names the value, its range and what was given."""
