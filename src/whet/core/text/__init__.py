"""Text and numbers as people read them, and records as files hold them."""
