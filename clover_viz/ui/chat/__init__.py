"""The tab "Chat"."""
