"""System calls in words, and which of them explain a failure."""
