"""Durable execution of rounds: the only room that knows the workflow engine."""
