"""What a failing run did that passing ones did not: lines, and the tests that led to them."""
