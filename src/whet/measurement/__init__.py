"""What measurements mean: statistics and readers; pure, as the numbers come from elsewhere."""
