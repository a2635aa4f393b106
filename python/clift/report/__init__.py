"""Tables and plots of traces and runs."""
