"""Experiments on the engine that the app uses: each returns plain data, views draw it."""
