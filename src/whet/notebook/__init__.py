"""The durable record: every trial ever run, whole, in order, never changed."""
