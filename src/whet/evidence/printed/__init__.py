"""What programs print about their failures: tracebacks, crashes, reports of test sessions."""
