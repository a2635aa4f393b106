"""Small studies, which tests run, break and resume."""

CHANNEL = """
[channel]
model = "bernoulli"
erasures = "2 %"
rate = "263 kbit/s"
lldu = "33 B"
decoding = "36 ms"
"""
PAGE = f"""
duration = "60 s"
[application]
type = "file"
size = "50 kB"
{CHANNEL}
[vary]
scheme = ["ARQ", "HARQ(10/12)"]
"""
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
