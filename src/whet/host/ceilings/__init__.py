"""Limits put around a trial, each by the first way that works on this machine."""
