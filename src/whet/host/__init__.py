"""The only package of whet that touches the operating system."""
