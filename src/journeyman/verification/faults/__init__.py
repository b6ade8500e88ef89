"""How tools say that something is missing: their messages, and what each of them means."""
