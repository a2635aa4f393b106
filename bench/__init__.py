"""Speed and memory of CLIFT, as ratios measured side by side in one run."""
