"""Entry points in other programs: IPython."""
