"""The one door through which every model call of every agent goes."""
