"""What an agent should know before it begins."""
