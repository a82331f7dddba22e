"""Pages that tell what an investigation found."""
