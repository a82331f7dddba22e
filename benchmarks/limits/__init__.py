"""What limits cost and how exact they are."""
