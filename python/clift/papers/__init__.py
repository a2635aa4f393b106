"""What the papers print, as parameter files, and what regenerates it."""
