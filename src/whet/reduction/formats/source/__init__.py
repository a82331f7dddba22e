"""Source code, in any language whose grammar whet knows."""
