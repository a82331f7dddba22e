"""Delta debugging: a smallest part that still fails."""
