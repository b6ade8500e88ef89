"""Who may see what, and what is never shown."""
