"""What a program measures of itself: whether it fails by that, and what it holds and compares then."""
