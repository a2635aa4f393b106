"""The explorer: one HTML file in which CLIFT runs, with settings to change."""
