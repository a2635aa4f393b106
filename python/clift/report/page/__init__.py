"""The report page: one HTML file with a study's question, numbers and plots."""
