"""Who may see what, and what nobody may see."""
