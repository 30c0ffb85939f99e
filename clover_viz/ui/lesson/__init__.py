"""The tab "How it works"."""
