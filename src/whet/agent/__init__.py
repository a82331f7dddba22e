"""What runs inside the debugged process. Standard library only; imports nothing else of whet.

The folder `site` goes in front of ``PYTHONPATH``, so that its `sitecustomize` is found first.
"""
