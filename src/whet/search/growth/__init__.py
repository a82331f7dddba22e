"""How a number decides: the least that is enough, the smallest that fails, the law of its cost."""
