"""`whet toggle` and `whet repeat --amplify`: switches turned one after another."""
