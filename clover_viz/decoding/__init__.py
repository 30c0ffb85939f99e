"""Decoders: which slots now? They ask for forward passes as callables and yield typed events."""
