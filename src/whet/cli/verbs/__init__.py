"""A file for each verb: parse, one call into the workbench, show."""
