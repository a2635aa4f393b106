"""A study as one page that opens from disk: its question, its numbers, its plots."""
