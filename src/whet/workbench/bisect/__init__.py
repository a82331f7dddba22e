"""`whet bisect`: first bad commits, releases, Pythons, packages and attempts."""
