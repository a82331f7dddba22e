"""A run whose steps were recorded until its time was up."""
