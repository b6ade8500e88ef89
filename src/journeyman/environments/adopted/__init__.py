"""Environments that a repository already describes for other products.

Each module has one pure function `adopt`: what of the product's file can be used here, or None where the
repository has none. What cannot be used is a note, and so is a file that cannot be read at all.
"""
