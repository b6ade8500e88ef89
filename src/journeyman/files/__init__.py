"""The home directory, and the safe removal of directory trees that an agent wrote."""
