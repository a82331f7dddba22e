"""One file per verb: parse, one call into the workbench, show."""
