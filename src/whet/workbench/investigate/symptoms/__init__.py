"""What the failure itself asks for: its system calls, a full disk, a failure that comes seldom."""
