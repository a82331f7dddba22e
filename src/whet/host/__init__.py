"""The only package of whet that touches the operating system. Each folder says in which process its code runs."""
