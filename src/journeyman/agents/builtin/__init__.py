"""An agent of our own: a lean loop that needs nothing but a model."""
