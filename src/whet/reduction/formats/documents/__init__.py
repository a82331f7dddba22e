"""Documents with a grammar: JSON, XML, HTML, YAML, TOML, e-mail, diffs."""
