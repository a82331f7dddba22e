"""Takes over the main script so that frozen copies of the process can be taken on the way."""
