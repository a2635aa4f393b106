"""A custom carrier scheduler: frames that terminals share by weight, e.g. by what they pay.

`python examples/own_carrier_scheduler.py`, or in a scenario: `carrier.scheduler = { type =
"weighted", second = 3 }` and `clift run FILE --plugin examples/own_carrier_scheduler.py`.
"""

import numpy as np

import clift


@clift.register_carrier_scheduler("weighted")
class Weighted:
    """Deficit round robin (Shreedhar and Varghese 1996): every second terminal weighs more."""

    frame_slots = 12

    def __init__(self, terminals, second=2):
        self.weights = np.where(np.arange(terminals) % 2 == 1, second, 1)
        self.credit = np.zeros(terminals, int)

    def assign(self, frame, waiting, room):
        """Gives each slot of a frame to a terminal with data and credit."""
        plan = []
        while len(plan) < self.frame_slots and waiting.any():
            ready = np.flatnonzero((waiting > 0) & (self.credit > 0))
            if len(ready) == 0:
                self.credit[waiting > 0] += self.weights[waiting > 0]
                continue
            self.credit[ready[0]] -= 1
            waiting[ready[0]] -= min(waiting[ready[0]], room[ready[0]])
            plan.append(ready[0])
        self.credit[waiting == 0] = 0
        return plan


SCENARIO = """
duration = "20 s"
flows = 4
link.queue = "50 packets"
[carrier]
terminals = 4
rate = "6 Mbit/s"
delay = "20 ms"
"""

if __name__ == "__main__":
    for scheduler in (
        {"type": "round robin"},
        {"type": "weighted"},
        {"type": "weighted", "second": 5},
    ):
        changes = {f"carrier.scheduler.{key}": value for key, value in scheduler.items()}
        run = clift.simulate(clift.Scenario.parse(SCENARIO, changes=changes))
        shares = ", ".join(f"{flow['goodput_kbps']:.0f}" for flow in run.summary()["flows"])
        print(f"{', '.join(map(str, scheduler.values()))}: {shares} kbit/s")
