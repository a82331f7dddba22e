"""Archives, and their members as payloads of their own."""
