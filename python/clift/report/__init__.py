"""Tables, plots and pages of traces and runs."""
