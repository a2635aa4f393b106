"""A custom scheme: each LLDU is sent in several slots in a row and arrives with the first received.

`python examples/own_scheme.py`, or in a scenario: `scheme = "repeat(2)"` and
`clift run FILE --plugin examples/own_scheme.py`.
"""

import numpy as np

import clift


@clift.register_scheme("repeat")
def repeat(phy, decode_ns, times=2):
    """Sends each LLDU in `times` slots in a row."""
    groups = len(phy) // times
    t = phy.t_ns[: groups * times].reshape(groups, times)
    d = phy.d_ns[: groups * times].reshape(groups, times)
    arrival = np.where(d > 0, t + d, np.iinfo(np.int64).max).min(axis=1)
    there = (d > 0).any(axis=1)
    return {
        "t_ns": t[:, 0],
        "d_ns": np.where(there, arrival - t[:, 0], 0),
        "lost_ns": np.where(there, 0, t[:, -1] + decode_ns - t[:, 0]),
        "transmissions": np.full(groups, times),
    }


if __name__ == "__main__":
    phy = clift.channel.bernoulli(slots=60_000, slot_ns=1_000_000, p=0.1, lldu_bytes=500, seed=1)
    for scheme in ("none", "repeat(2)", "FEC(10/12)"):
        run = clift.simulate(clift.tmt.apply(phy, scheme, rtt_ms=100), duration_s=50)
        print(f"{scheme}: {run.goodput_kbps:.0f} kbit/s")
