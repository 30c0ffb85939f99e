"""The errors a user can cause."""


class UserError(ValueError):
    """A bad value from outside; its text is one line that names the value, its range and what was given."""


class ContextFull(UserError):
    """A prompt that leaves no room in the model's context for an answer."""
