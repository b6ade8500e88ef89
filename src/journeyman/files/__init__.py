"""Directory trees that an agent wrote: thrown away and removed without trusting anything in them."""
