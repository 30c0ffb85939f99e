"""The tab "Player", and the file of a player."""
