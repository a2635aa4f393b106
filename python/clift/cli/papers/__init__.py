"""The papers of `clift paper`, one a file."""
