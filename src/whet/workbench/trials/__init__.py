"""One trial and many: the workbench, requests, the driver, repeats, and what they return."""
