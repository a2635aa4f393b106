"""A small study, which tests run, break and resume."""

_TEXT = """
duration = "10 s"
runs = {runs}
[application]
type = "file"
size = "{size}"
[channel]
model = "bernoulli"
erasures = "2 %"
rate = "263 kbit/s"
[link]
live = true
[vary]
scheme = ["ARQ", "none"]
"""


def text(runs: int, size: str) -> str:
    """Its scenario: two schemes, a file of `size`, `runs` each."""
    return _TEXT.format(runs=runs, size=size)
