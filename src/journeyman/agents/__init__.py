"""Backends that can work on code, all behind one door."""
