"""Make a payload smaller while it fails the same way. Pure: it proposes payloads and is told."""
