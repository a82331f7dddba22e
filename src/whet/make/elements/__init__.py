"""Numbers to fill things with, and how each type stores them."""
