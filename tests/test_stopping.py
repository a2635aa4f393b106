"""Running until an interval is narrow: what is called the interval then still covers."""

import numpy as np
import pytest

from clift.campaign.statistics import estimates
from clift.campaign.stopping import is_enough, looks

# Draws of mean 1: normal, skewed as completion times are, and one in five with a timeout.
DRAWS = {
    "normal": lambda rng, size: rng.normal(1.0, 0.2, size),
    "exponential": lambda rng, size: 0.7 + rng.exponential(0.3, size),
    "timeouts": lambda rng, size: (
        0.92 + 0.05 * rng.normal(0, 1, size) + 0.4 * (rng.random(size) < 0.2)
    ),
}

SHARES = {"normal": 0.04, "exponential": 0.06, "timeouts": 0.04}


@pytest.mark.parametrize("law", list(DRAWS))
def test_stopped_intervals_cover_the_mean(law: str) -> None:
    studies, most, share = 400, 390, SHARES[law]
    drawn = DRAWS[law](np.random.default_rng(7), (most, studies))
    active = np.arange(studies)
    covered, counts = 0, []
    for look, runs in enumerate(looks(most), 1):
        found = estimates(drawn[:runs, active])
        ends = [runs == most or is_enough(one, look, share) for one in found]
        for one, over in zip(found, ends, strict=True):
            if over:
                covered += one.low <= 1.0 <= one.high
                counts.append(runs)
        active = active[~np.array(ends)]
        if not len(active):
            break
    assert len(counts) == studies
    # They do stop before the last look, and at several looks.
    assert len(set(counts)) >= 2
    # 95 %, less three standard errors of 400 studies.
    assert covered / studies >= 0.95 - 3 * (0.05 * 0.95 / studies) ** 0.5, covered / studies


def test_looks_are_few_and_end_with_the_last_run() -> None:
    assert looks(40) == [40]
    assert looks(50) == [50]
    assert looks(100_000)[-1] == 100_000
    assert len(looks(100_000)) < 25
