"""Files and folders: atomic writes, watching, claims, and whet's own state folder."""
