"""Small worlds: what whet finds with small payloads, models and numbers."""
