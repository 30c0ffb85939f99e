"""Recorded runs, and the one state that every view draws."""
