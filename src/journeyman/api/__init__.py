"""The HTTP door: a router per noun over the stores, with every error as a problem."""
