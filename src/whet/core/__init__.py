"""The words of whet as frozen values and one-method protocols. Pure."""
