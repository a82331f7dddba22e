"""What verbs print: lines, tables, panels and JSON."""
