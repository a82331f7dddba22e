"""Python installations: environments, packages, package indexes, and which Python a command runs on."""
