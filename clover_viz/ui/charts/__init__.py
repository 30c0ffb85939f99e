"""The charts of a finished run."""
