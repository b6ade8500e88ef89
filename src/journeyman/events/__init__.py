"""What happened, in order: everything that people see is a reading of the events."""
