"""Results per test from the project's own runner, whatever starts it, with its files untouched."""
