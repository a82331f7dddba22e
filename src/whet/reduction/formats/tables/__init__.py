"""Rows and columns: CSV, Parquet, Arrow, Excel."""
