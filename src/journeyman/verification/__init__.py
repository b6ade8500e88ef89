"""Proof that the work is right, gathered outside the agent."""
