"""Counts strings."""

import logging

import string

logging.warning("strings: %d", string.GUITAR)
