"""Make the scores of strict and mild judges alike."""

import numpy as np

WEIGHTS = np.array([0.5, 0.3, 0.2])


def scaled(scores):
    lowest = scores.min(axis=0)
    spread = scores.max(axis=0) - lowest
    with np.errstate(all="ignore"):
        return (scores - lowest) / spread


def weighted(scores):
    return scores @ WEIGHTS
