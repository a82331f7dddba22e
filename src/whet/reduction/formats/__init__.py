"""The formats that whet can see in a payload, each with its passes."""
