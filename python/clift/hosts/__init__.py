"""The link in other hosts: a Linux kernel in real time, ns-2, ns-3."""
