"""Files, folders and where whet keeps its own: written whole or not at all."""
