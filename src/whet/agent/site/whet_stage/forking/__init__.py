"""What a fork of the program needs: descriptors, threads, memory, and its end."""
