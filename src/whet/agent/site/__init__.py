"""The folder that goes in front of ``PYTHONPATH`` in a trial."""
