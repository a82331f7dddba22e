"""From an outcome's facts to the failure that they show, and the signature that says which bug it is."""
