"""What happened to an object before its use failed: closed, resized, removed, swallowed, never set.

Each file looks for one kind of event in the recorded steps, and returns it as a value, without a sentence.
"""
