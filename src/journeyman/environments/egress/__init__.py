"""The only way out of a sandbox: a proxy that lets through what the rules name, and nothing else."""
