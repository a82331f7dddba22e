"""What a step of a model costs at least, from its operators' shapes alone; runs in the user's Python."""
