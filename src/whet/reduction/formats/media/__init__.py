"""Images and sounds."""
