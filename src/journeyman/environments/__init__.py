"""What a repository needs before anything runs: packages, services, variables and checks."""
