"""TCP of a Linux kernel beside profile `linux`: the same path, the same packets lost or late.

`cells` says what is compared, `namespaces` and `forwarder` make the path, `flow` runs a kernel's
TCP over it, `ours` runs the engine, `table` writes docs/evidence/tcp-beside-linux.md.
"""
