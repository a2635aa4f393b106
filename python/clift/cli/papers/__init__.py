"""The commands of `clift paper`, one file per paper."""
