"""Runs of a tab: begun, held, streamed to the page, kept."""
