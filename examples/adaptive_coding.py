"""What adaptive coding gains over a rain event: constant, variable and adaptive coding compared.

The log is modem.csv beside this file (modem_log.py made it): Es/N0, the MODCOD that the modem had
and its frame errors, a row a second. The link is a geostationary one, with a
round trip of 520 ms, under TCP CUBIC; frames that are lost stay lost.

    python examples/adaptive_coding.py
"""

from pathlib import Path

import clift

LOG = Path(__file__).with_name("modem.csv")
CODINGS = {
    "constant, QPSK 1/2": {"modcod": "QPSK 1/2"},
    "constant, 16APSK 4/5": {"modcod": "16APSK 4/5"},
    "variable, as logged": {"modcod": "modcod", "errors": "frame_errors"},
    "adaptive, 1 dB, 1 s": {"margin": "1 dB", "acm_delay": "1 s"},
    "adaptive, 0 dB, 1 s": {"margin": "0 dB", "acm_delay": "1 s"},
}

print(f"{'coding':<22}{'offered':>9}{'received':>10}{'lost':>8}{'TCP':>9}  kbit/s")
for name, keys in CODINGS.items():
    phy = clift.import_modem(LOG, time="time_s:s", esn0="esn0_db:dB", symbol_rate="500 kBd", **keys)
    stats = phy.stats()
    received = stats.get("received_rate_bps", stats["rate_bps"] * (1 - stats["erasure_rate"]))
    link = clift.tmt.apply(phy, "none", rtt_ms=520)
    run = clift.simulate(link, transport="cubic", duration_s=590)
    print(
        f"{name:<22}{stats['rate_bps'] / 1e3:>9.0f}{received / 1e3:>10.0f}"
        f"{stats['erasure_rate']:>8.2%}{run.goodput_kbps:>9.0f}"
    )
