"""Public fakes and conformance kits, for those who write their own parts of whet."""
