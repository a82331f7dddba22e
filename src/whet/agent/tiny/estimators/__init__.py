"""Estimators: what is fitted to a table and says its parameters (`get_params`), as in scikit-learn."""
