"""Decision procedures over three-valued tests. Pure: they propose and are told."""
