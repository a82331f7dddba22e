"""The user's files around a trial: named, opened, copied, and handed over as results, scripts and reports."""
