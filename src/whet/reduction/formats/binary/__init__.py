"""Payloads whose bytes only programs read: pickles, PDF, captured packets, programs."""
