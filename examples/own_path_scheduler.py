"""A custom path scheduler: the second path carries only what the first one cannot take soon.

`python examples/own_path_scheduler.py`, or in a scenario: `path_scheduler = "spill-over"` in a
`[[flow]]` with `paths`, and `clift run FILE --plugin examples/own_path_scheduler.py`.
"""

import clift


@clift.register_path_scheduler("spill-over")
class SpillOver:
    """Waits for the first path unless more segments wait than ten of its windows hold."""

    def choose(self, paths, segments, window):
        """Returns the first path with room, or None while the first path is worth waiting for."""
        first, *others = paths
        if first.room > 0 or (segments is not None and segments <= 10 * first.cwnd):
            return first if first.room > 0 else None
        return next((path for path in others if path.room > 0), None)


SCENARIO = """
duration = "60 s"
application = { type = "file", size = "5 MB" }
[network.links.lte]
from = "a"
to = "b"
leg = { rate = "6 Mbit/s", delay = "30 ms", queue = "100 packets" }
duplex = true
[network.links.geo]
from = "a"
to = "b"
leg = { rate = "10 Mbit/s", delay = "280 ms", queue = "500 packets" }
duplex = true
[[flow]]
name = "file"
from = "a"
to = "b"
paths = [["lte"], ["geo"]]
"""

if __name__ == "__main__":
    for name in ("least rtt", "spill-over"):
        changes = {"flow.file.path_scheduler": name}
        run = clift.simulate(clift.Scenario.parse(SCENARIO, changes=changes))
        flow = run.summary()["flows"][0]
        geo = flow["paths"][1]["path_bytes"] / 1e6
        print(f"{name}: {flow['completion_s']:.1f} s, {geo:.1f} MB over GEO")
