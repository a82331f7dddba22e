"""What makes small models. It runs in the user's Python: standard library, and the libraries that are there.

`worker.py` is the script that whet starts; it answers requests, each a line of JSON, and loads this
folder under the name ``whet_tiny``, so that nothing else of whet is found in the user's program.
"""
