"""The app: one page over one engine."""
