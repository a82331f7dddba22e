"""What a failing run did and passing runs didn't: lines, and the conditions that led to them."""
