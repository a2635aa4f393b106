"""Prints link_log.csv, the made-up log of a mobile terminal on a geostationary satellite.

One row a second for 15 minutes: time, rate, one-way delay, packet loss. The rate is 2 Mbit/s and
drops to 1 Mbit/s for two minutes of rain. The delay is 270 ms and jitters by some ms. Most seconds
lose nothing; every few seconds the terminal passes an obstacle and loses 5 to 30 % of the packets.

    python examples/link_log.py > examples/link_log.csv
"""

import numpy as np

SECONDS = 900
rng = np.random.default_rng(1)
print("time_s,rate_mbps,delay_ms,loss_percent")
for second in range(SECONDS):
    rate = 1.0 if 300 <= second < 420 else 2.0
    delay = 270 + rng.exponential(3)
    loss = rng.uniform(5, 30) if rng.random() < 0.15 else 0
    print(f"{second},{rate},{delay:.1f},{loss:.1f}")
