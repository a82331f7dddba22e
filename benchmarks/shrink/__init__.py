"""How small and how fast `whet shrink` is beside other reducers, and what its engine decides."""
