import sys

sys.exit("settings.toml: unknown table 'servers' in line 12")
