"""Images and sounds from nothing."""
