"""Real public repositories: what the product makes of each, beside its documented commands run by hand."""
