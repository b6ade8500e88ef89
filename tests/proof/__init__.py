"""Prepared changes to small repositories, and what has to be said of each of them."""
