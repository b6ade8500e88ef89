"""Verification of the work, independent of the agent."""
