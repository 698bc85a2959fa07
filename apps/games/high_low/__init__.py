"""High-Low: this folder is the whole game."""
