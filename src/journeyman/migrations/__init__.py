"""The history of the tables, shipped in the package; `jm migrate` and every start apply it."""
