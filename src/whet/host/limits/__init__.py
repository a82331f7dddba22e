"""The limits and the sandbox of a trial, each enforced by the first mechanism that works here."""
