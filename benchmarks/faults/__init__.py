"""What whet withstands: kills, signals, failing system calls, and bytes that another program wrote."""
