"""whet turns a failing command into a small, fast, repeatable and explained one."""

__version__ = "0.1.0"
