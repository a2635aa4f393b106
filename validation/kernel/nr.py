r"""BBR and CUBIC of a kernel live over 5G NR via GEO without HARQ feedback, beside profile `linux`.

    python -m validation.kernel.nr                     # the kept measurements and ours
    python -m validation.kernel.virtual run NAME \\
        python -m validation.kernel.nr --measure bbr 1  # prints a line for `nr.csv`

One block in ten is erased, and RLC AM repairs it a status report later, in order: the mean round
trip is more than twice the least, which is what BBR's window goes by.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from statistics import fmean

import clift
from clift.hosts.crosscheck import crosscheck
from validation.kernel import kept
from validation.kernel.ours import HOST

FILE = Path(__file__).parent / "nr.csv"
NUMBERS = ("goodput_kbps", "retransmissions", "timeouts")
TEXT = """
duration = "60 s"
seed = {seed}
[ntn]
preset = "nr-ntn-geo"
harq_feedback = false
bler = "10 %"
[link]
queue = "3000 packets"
[transport]
congestion = "{congestion}"
"""


def run(congestion: str, seed: str, host: str) -> dict[str, object]:
    """A cell in a host."""
    with tempfile.TemporaryDirectory() as folder:
        # Commands of a live run may belong to somebody else.
        Path(folder).chmod(0o755)
        path = Path(folder, "nr.toml")
        path.write_text(TEXT.format(seed=seed, congestion=congestion))
        host_rules = {f"transport.linux.{name}": "true" for name in HOST}
        return crosscheck(clift.Scenario.read(path, host_rules), (host,))[host]


def main() -> int:
    """Prints means; 1 unless CUBIC has ten times what BBR has, in the kernel as in ours."""
    if sys.argv[1:2] == ["--measure"]:
        congestion, seed = sys.argv[2:4]
        live = run(congestion, seed, "live")
        fates: dict[str, object] = live["fates"]  # type: ignore[assignment]
        print(
            ",".join(map(str, (congestion, seed, *(live[one] for one in NUMBERS), fates["agree"])))
        )
        return 0
    rows = kept.read(FILE)
    means = {}
    for congestion in ("cubic", "bbr"):
        mine = [row for row in rows if row["congestion"] == congestion]
        live = fmean(float(row["goodput_kbps"]) for row in mine)
        own = fmean(
            float(str(run(congestion, row["seed"], "engine")["goodput_kbps"])) for row in mine
        )
        means[congestion] = live, own
        print(f"{congestion:6} kernel {live:7.0f} kbit/s, engine {own:7.0f}, {own / live - 1:+.0%}")
    return int(any(many < 10 * few for many, few in zip(*means.values(), strict=True)))


if __name__ == "__main__":
    sys.exit(main())
