"""Payloads made, sampled, made tiny, grown."""
