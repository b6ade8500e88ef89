"""What is to be done in which order: workflows as values, read, checked and followed."""
