"""Prints modem.csv, the log of a synthetic modem: a rain event of ten minutes, one row per second.

Es/N0 is the clear-sky value less a fade and scintillation. The fade rises and falls as a squared
cosine. The scintillation is a first-order Gauss-Markov process of 0.25 dB and 5 s, as in the models
with which ITU-R P.1853 synthesises time series. The modem uses variable coding: an operator's list
of five MODCODs, chosen from the Es/N0 of 2 s earlier with 0.5 dB of margin. All frames of a second
fail if the Es/N0 of that second is below the threshold of its MODCOD.

    python examples/modem_log.py > examples/modem.csv
"""

import numpy as np

SECONDS = 600
CLEAR_SKY_DB = 13.0
FADE_DB = 12.0
SCINTILLATION_DB = 0.25
# ETSI EN 302 307-1, table 13.
MODCODS = [
    ("QPSK 1/2", 1.00),
    ("QPSK 3/4", 4.03),
    ("8PSK 2/3", 6.62),
    ("8PSK 5/6", 9.35),
    ("16APSK 4/5", 11.03),
]

seconds = np.arange(SECONDS)
fade = FADE_DB * np.cos(np.pi * np.clip((seconds - 330) / 360, -0.5, 0.5)) ** 2
memory = np.exp(-1 / 5)
noise = np.random.default_rng(1).normal(0, SCINTILLATION_DB * np.sqrt(1 - memory**2), SECONDS)
scintillation = np.zeros(SECONDS)
for second in range(1, SECONDS):
    scintillation[second] = memory * scintillation[second - 1] + noise[second]
esn0 = np.round(CLEAR_SKY_DB - fade + scintillation, 2)

rows = ["time_s,esn0_db,modcod,frame_errors"]
for second in seconds:
    known = esn0[max(second - 2, 0)] - 0.5
    within = [one for one in MODCODS if one[1] <= known]
    name, threshold = (within or MODCODS[:1])[-1]
    rows.append(f"{second},{esn0[second]:.2f},{name},{int(esn0[second] < threshold)}")
print("\n".join(rows))
