"""Results as text and pictures."""
