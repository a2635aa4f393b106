"""Figure 7 of Kuhn 2014: how often the physical layer's decoder fails, over Es/N0."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from clift.land_mobile import LandMobile
from clift.papers.artefact import Effort, Outcome, Row, Rows
from clift.papers.verdict import Verdict, at_least, averaged, every, within

INTERLEAVED, PLAIN = "internet, 36 ms", "internet, no interleaving"
UP, DOWN = "distribution, up", "distribution, down"
# (preset, interleaving in ms, Es/N0 in dB); the figure's axis is not in the text.
SCENARIOS: dict[str, tuple[str, float | None, range]] = {
    INTERLEAVED: ("internet", None, range(4, 10)),
    PLAIN: ("internet", 0.0, range(5, 13)),
    UP: ("distribution", None, range(11, 17)),
    DOWN: ("distribution-down", None, range(11, 17)),
}


def figure_7(effort: Effort, _profile: str) -> Outcome:
    """Figure 7: error rates of the four channels, each over drives with different seeds."""
    points = [
        (scenario, preset, interleaving, level)
        for scenario, (preset, interleaving, levels) in SCENARIOS.items()
        for level in levels
    ]

    def rates(point: tuple[str, str, float | None, int]) -> list[float]:
        _, preset, interleaving, level = point
        channel = LandMobile(preset, level, interleaving)
        traces = (channel.trace(effort.duration_s, seed) for seed in effort.seeds)
        return [trace.stats()["erasure_rate"] for trace in traces]

    with ThreadPoolExecutor() as pool:
        found = list(pool.map(rates, points))
    rows = Rows(
        Row({"scenario": scenario, "esn0_db": level}, "erasure_rate", averaged(values))
        for (scenario, _, _, level), values in zip(points, found, strict=True)
    )
    return Outcome(rows, claims(rows))


def claims(rows: Rows) -> dict[str, Verdict]:
    """Claims of section 4.1 about the error rates."""

    def rate(scenario: str, level: int) -> float:
        return rows.at("erasure_rate", scenario=scenario, esn0_db=level).mean

    lower = every(
        at_least(
            rows.at("erasure_rate", scenario=PLAIN, esn0_db=level),
            rows.at("erasure_rate", scenario=INTERLEAVED, esn0_db=level),
        )
        for level in range(5, 10)
    )
    up = rows.at("erasure_rate", scenario=UP, esn0_db=14)
    verdicts = {
        "interleaving": Verdict(
            lower, f"at 6 dB {rate(INTERLEAVED, 6):.2g} beside {rate(PLAIN, 6):.2g} without"
        ),
        "distribution": Verdict(within(up, 0.0, 0.01), f"{up.mean:.2g}"),
    }
    for key, scenario, levels in (
        ("interleaved", INTERLEAVED, range(5, 9)),
        ("plain", PLAIN, range(5, 13)),
    ):
        found = [rows.at("erasure_rate", scenario=scenario, esn0_db=one) for one in levels]
        holds = every(within(one, 0.01, 0.1) for one in found)
        span = f"{found[0].mean:.2g} at {levels[0]} dB to {found[-1].mean:.2g} at {levels[-1]} dB"
        verdicts[key] = Verdict(holds, span)
    return verdicts
