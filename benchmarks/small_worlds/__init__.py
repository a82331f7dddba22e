"""Measurements of small payloads: made, sampled, made tiny, grown."""
