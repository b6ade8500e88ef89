"""Work orders: what is wanted, where, and how far it has come."""
