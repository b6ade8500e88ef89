"""Isolated places where commands run, each holding one workspace."""
