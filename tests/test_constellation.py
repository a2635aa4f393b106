"""clift.constellation and `clift constellation`: geometry, ways, tables, wrong input."""

import itertools
import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import clift
from clift import constellation
from clift.cli.main import run
from clift.constellation import Grid, Station, Walker
from clift.constellation.orbits import EARTH_KM, GRAVITY, LIGHT_KM_S, ROTATION

DATA = Path(__file__).parent / "data"
TOULOUSE, LOS_ANGELES = (43.6, 1.44), (34.05, -118.2)


def ms(km: float) -> float:
    return km / LIGHT_KM_S * 1e3


def test_a_separately_written_program_gives_the_same_delays() -> None:
    """Four decimals of 601 rows, with every change of route among them."""
    expected = constellation.read(DATA / "leo66.csv")
    table = constellation.delays("leo66", TOULOUSE, LOS_ANGELES, 600, start_s=2760)
    assert np.array_equal(table.time_s, expected.time_s)
    assert np.abs(table.delay_ms - expected.delay_ms).max() < 5.1e-5
    steps = {change.time_s: change.step_ms for change in table.changes()}
    jumps = np.flatnonzero(np.abs(np.diff(expected.delay_ms)) > 0.3) + 1
    assert set(expected.time_s[jumps]) <= set(steps)
    assert sorted(round(step, 1) for step in steps.values() if abs(step) > 0.3) == [
        -14.0,
        -3.6,
        -2.7,
        -0.5,
        2.7,
    ]


def test_a_satellite_overhead_is_as_far_as_it_is_high() -> None:
    one = constellation.walker(1, 1, altitude_km=800, inclination_deg=0)
    table = constellation.delays(one, (0, 0), (0, 0), 0)
    assert table.delay_ms[0] == pytest.approx(2 * 800 / 299_792.458 * 1e3, abs=1e-9)
    assert table.routes == ((0,),)


@pytest.mark.parametrize("away_deg", [5.0, 12.0, 20.0])
def test_a_slant_path_is_that_of_the_triangle(away_deg: float) -> None:
    """d = sqrt((R sin e)^2 + 2 R h + h^2) - R sin e, over a station so far away along the orbit."""
    one = constellation.walker(1, 1, altitude_km=800, inclination_deg=0)
    distance, elevation = Station(0.0, away_deg).view(0.0, one.positions(0.0))
    rise = EARTH_KM * math.sin(math.radians(float(elevation[0])))
    assert distance[0] == pytest.approx(math.sqrt(rise**2 + 2 * EARTH_KM * 800 + 800**2) - rise)
    chord = math.sqrt(
        EARTH_KM**2 + 7171**2 - 2 * EARTH_KM * 7171 * math.cos(math.radians(away_deg))
    )
    assert distance[0] == pytest.approx(chord)


def test_a_route_along_a_plane_is_made_of_chords() -> None:
    """Twelve satellites over the poles: three chords of 30 degrees between two overhead ones."""
    ring = constellation.walker(1, 12, altitude_km=800, inclination_deg=90)
    table = constellation.delays(ring, (0, 0), (90, 0), 0)
    assert table.routes == ((0, 1, 2, 3),)
    expected = 2 * 800 + 3 * 2 * 7171 * math.sin(math.radians(15))
    assert table.delay_ms[0] == pytest.approx(ms(expected))
    assert table.uplink_ms is not None
    assert table.uplink_ms[0] == pytest.approx(ms(800))


def test_the_period_is_keplers_and_the_earth_turns_below() -> None:
    leo = constellation.preset("leo66")
    # 2 pi sqrt(7171^3 / 398600.44) s.
    assert leo.period_s == pytest.approx(6043.39, abs=0.01)
    assert np.allclose(leo.positions(leo.period_s), leo.positions(0.0))
    # The track of a satellite moves west by what the Earth turns in a period.
    west = leo.below(0.0)[:, 1] - leo.below(leo.period_s)[:, 1]
    turned = math.degrees(ROTATION * leo.period_s)
    assert np.allclose(np.mod(west, 360), turned)
    # A geostationary satellite stands still.
    altitude = (GRAVITY / ROTATION**2) ** (1 / 3) - EARTH_KM
    geo = constellation.walker(1, 1, altitude_km=altitude, inclination_deg=0)
    table = constellation.delays(geo, (40, 10), (-20, -30), 86_400, step_s=3600)
    assert np.ptp(table.delay_ms) < 1e-6
    assert table.delay_ms[0] == pytest.approx(250, abs=8)


def test_satellites_are_spread_in_walkers_pattern() -> None:
    """i: 24/3/2 in Walker's notation: nodes 120 degrees apart, the next plane 30 degrees ahead."""
    delta = constellation.walker(3, 8, altitude_km=1000, inclination_deg=60, phasing=2)
    assert delta.spacing_deg == 120
    positions = delta.positions(0.0) / delta.radius_km
    # Arguments of latitude from the height over the equator, in the first quarter of each plane.
    ahead = [
        math.degrees(math.asin(positions[8 * plane, 2] / math.sin(math.radians(60))))
        for plane in range(3)
    ]
    assert ahead == pytest.approx([0, 30, 15], abs=1e-9)  # 60 degrees are a slot of 45 and 15 more
    star = constellation.walker(6, 11, altitude_km=800, inclination_deg=90, pattern="star")
    assert star.spacing_deg == 30


def test_the_grid_joins_neighbours_and_not_across_a_seam() -> None:
    leo = constellation.preset("leo66")
    pairs, aside = leo.links()
    assert (len(pairs), aside.sum()) == (66 + 55, 55)
    assert not any({one // 11, other // 11} == {0, 5} for one, other in pairs.tolist())
    delta = constellation.walker(6, 11, altitude_km=800, inclination_deg=53, phasing=2)
    pairs, aside = delta.links()
    assert (len(pairs), aside.sum()) == (132, 66)
    degree = np.bincount(pairs.ravel())
    assert (degree == 4).all()
    # The nearest in phase: half a slot at most.
    for one, other in pairs[aside].tolist():
        phase = [
            number % 11 + float(delta._offset(np.array(number // 11))) for number in (one, other)
        ]
        apart = abs(phase[0] - phase[1]) % 11
        assert min(apart, 11 - apart) <= 0.5 + 1e-9


def test_links_between_planes_are_off_near_the_poles() -> None:
    leo = constellation.preset("leo66")
    positions = leo.positions(1234.0)
    latitude = np.abs(leo.below(1234.0)[:, 0])
    for one, other in Grid(leo).pairs_up(positions).tolist():
        assert one // 11 == other // 11 or max(latitude[one], latitude[other]) < 70


def shells() -> st.SearchStrategy[Walker]:
    return st.builds(
        lambda planes, per_plane, inclination, star, phasing, limit: constellation.walker(
            planes,
            per_plane,
            altitude_km=1200,
            inclination_deg=inclination,
            pattern="star" if star else "delta",
            phasing=min(phasing, planes),
            polar_limit_deg=limit,
        ),
        st.integers(1, 5),
        st.integers(6, 9),
        st.floats(30, 90),
        st.booleans(),
        st.integers(0, 5),
        st.floats(50, 90),
    )


@settings(deadline=None, max_examples=30)
@given(shells(), st.floats(0, 1e5), st.data())
def test_no_route_is_shorter(shell: Walker, time: float, data: st.DataObject) -> None:
    """Against Floyd and Warshall's triple loop over the same links."""
    grid = Grid(shell)
    lengths = grid.lengths_ms(shell.positions(time))
    pairs, _ = shell.links()
    table = np.full((shell.count, shell.count), math.inf)
    np.fill_diagonal(table, 0)
    for (one, other), length in zip(pairs.tolist(), lengths, strict=True):
        table[one, other] = table[other, one] = min(table[one, other], length)
    for middle in range(shell.count):
        table = np.minimum(table, table[:, [middle]] + table[[middle]])
    start, end = (data.draw(st.integers(0, shell.count - 1)) for _ in range(2))
    way = grid.shortest(lengths, start, end)
    if way is None:
        assert table[start, end] == math.inf
        return
    assert way[0] == pytest.approx(table[start, end])
    up = {frozenset(pair) for pair in pairs[np.isfinite(lengths)].tolist()}
    assert all(frozenset(hop) in up for hop in itertools.pairwise(way[1]))


def test_the_return_route_takes_as_long() -> None:
    there = constellation.delays("leo66", TOULOUSE, LOS_ANGELES, 300, start_s=500, step_s=10)
    back = constellation.delays("leo66", LOS_ANGELES, TOULOUSE, 300, start_s=500, step_s=10)
    assert np.allclose(there.delay_ms, back.delay_ms)


def test_a_station_keeps_its_satellite_until_it_sinks() -> None:
    leo = constellation.preset("leo66")
    held = constellation.delays(leo, TOULOUSE, LOS_ANGELES, 1800, step_s=5)
    highest = constellation.delays(leo, TOULOUSE, LOS_ANGELES, 1800, step_s=5, keep=False)
    for table, keeps in ((held, True), (highest, False)):
        assert table.routes is not None
        before = None
        for time, route in zip(table.time_s, table.routes, strict=True):
            _, elevation = Station(*TOULOUSE).view(float(time), leo.positions(float(time)))
            assert elevation[route[0]] >= 8.2
            if keeps and before is not None and route[0] != before:
                assert elevation[before] < 8.2
            if not keeps:
                assert route[0] == int(np.argmax(elevation))
            before = route[0]
    assert held.routes != highest.routes


def test_a_table_is_read_as_it_was_written(tmp_path: Path) -> None:
    table = constellation.delays("leo66", TOULOUSE, LOS_ANGELES, 60, start_s=2760)
    path = tmp_path / "x.csv"
    constellation.write(table, path, detail=True)
    again = constellation.read(path)
    assert np.array_equal(again.time_s, table.time_s)
    assert np.abs(again.delay_ms - table.delay_ms).max() < 1e-6
    assert again.routes == table.routes
    constellation.write(again, path)
    assert path.read_text().startswith("time_s,delay_ms\n0.000,88.784")
    plain = constellation.read(path)
    assert plain.routes is None
    assert plain.changes() == []
    with pytest.raises(clift.TraceError, match="omit detail"):
        constellation.write(plain, path, detail=True)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "x.csv: has no rows"),
        ("time_s,delay_ms\n", "x.csv: has no rows"),
        ("# only a comment\n", "has no rows"),
        ("t,d\n0,80\n", "x.csv: line 1: no column time_s; the header line has `t, d`"),
        ("time_s,delay\n0,80\n", "no column delay_ms"),
        ("time_s,delay_ms\n0,80\n1,nan\n", "line 3: delay_ms = nan; give a number above 0"),
        ("time_s,delay_ms\n0,inf\n", "line 2: delay_ms = inf"),
        ("time_s,delay_ms\n0,-80\n", "line 2: delay_ms = -80"),
        ("time_s,delay_ms\n0,0\n", "line 2: delay_ms = 0"),
        ("time_s,delay_ms\nnan,80\n", "line 2: time_s = nan; give a number, 0 or more"),
        ("time_s,delay_ms\n-1,80\n", "line 2: time_s = -1"),
        ("time_s,delay_ms\n0,80\n2,81\n1,82\n", "line 4: time_s = 1 does not increase; sort it"),
        ("time_s,delay_ms\n0,80\n0,81\n", "line 3: time_s = 0 does not increase"),
        ("time_s,delay_ms\n0,eighty\n", "line 2: delay_ms = `eighty` is not a number"),
        ("time_s,delay_ms\n0\n", "line 2: 1 value in a table of 2 columns"),
        (
            "time_s,delay_ms,uplink_ms,downlink_ms,route\n0,8,2,2,a-b\n",
            "row 1: '2, 2, a-b': give",
        ),
    ],
)
def test_an_invalid_table_gives_one_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "x.csv"
    path.write_text(text)
    with pytest.raises(clift.TraceError) as error:
        constellation.read(path)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_unreadable_files_give_one_line(tmp_path: Path) -> None:
    with pytest.raises(clift.TraceError, match="No such file"):
        constellation.read(tmp_path / "missing.csv")
    binary = tmp_path / "x.csv"
    binary.write_bytes(b"\xff\x00time")
    with pytest.raises(clift.TraceError, match="not text; is the format right"):
        constellation.read(binary)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: constellation.preset("leo67"), "choose one of leo66"),
        (lambda: shell(planes=0), "planes = 0"),
        (lambda: shell(per_plane=4), "do not see each other; give 7 or more"),
        (lambda: shell(altitude_km=float("nan")), "altitude_km = nan"),
        (lambda: shell(inclination_deg=200), "inclination_deg = 200"),
        (lambda: shell(pattern="ring"), "give 'delta' or 'star'"),
        (lambda: shell(phasing=7), "phasing = 7"),
        (lambda: shell(planes=1000, per_plane=1000), "at most 20000"),
        (lambda: fly(start=(91, 0)), "give latitude -90 to 90"),
        (lambda: fly(start="Toulouse"), "`Toulouse` is not a place"),
        (lambda: fly(start=("1", float("nan"))), "is not a place"),
        (lambda: fly(duration_s=-1), "duration_s = -1"),
        (lambda: fly(step_s=0), "step_s = 0"),
        (lambda: fly(duration_s=1e9), "give at most 1000000"),
        (lambda: fly(min_elevation_deg=95), "min_elevation_deg = 95"),
        (lambda: fly(min_elevation_deg=80), "no satellite stands 80 deg high over 43.6,1.44"),
    ],
)
def test_invalid_orbits_and_places_are_refused(make, message: str) -> None:
    with pytest.raises(clift.ScenarioError) as error:
        make()
    assert message in str(error.value)


def test_planes_without_links_between_them_lead_nowhere() -> None:
    apart = replace(constellation.preset("leo66"), polar_limit_deg=0.0)
    with pytest.raises(clift.ScenarioError, match="no links lead from satellite"):
        constellation.delays(apart, (0, 0), (0, 90), 0)


def shell(**changes) -> Walker:
    usual = {"planes": 6, "per_plane": 11, "altitude_km": 800, "inclination_deg": 86.4}
    return constellation.walker(**(usual | changes))


def fly(start=TOULOUSE, duration_s=10.0, **options):
    return constellation.delays("leo66", start, LOS_ANGELES, duration_s, **options)


def test_the_command_writes_the_table_and_a_picture(tmp_path: Path, capsys) -> None:
    path, picture = tmp_path / "delays.csv", tmp_path / "x.png"
    words = ["--preset", "leo66", "--from", "43.6,1.44", "--to", "34.05,-118.2"]
    words += ["--start", "2760 s", "--duration", "600s", "-o", str(path)]
    assert run(["constellation", *words, "--plot", str(picture)]) == 0
    out = capsys.readouterr().out
    assert "601 rows, delay 67.6 to 88.8 ms, mean 76.6 ms" in out
    assert "handover   -13.96 ms" in out
    expected = constellation.read(DATA / "leo66.csv")
    assert np.abs(constellation.read(path).delay_ms - expected.delay_ms).max() < 5.1e-5
    assert picture.read_bytes()[1:4] == b"PNG"
    assert run(["constellation", *words, "--detail", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["changes"]) == 7
    assert constellation.read(path).routes is not None


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "no constellation given; use --preset leo66"),
        (["--preset", "leo"], "choose one of leo66"),
        (["--preset", "leo66", "--planes", "3"], "--preset defines the whole constellation"),
        (["--preset", "leo66", "--from", "1"], "`1` is not a place"),
        (["--preset", "leo66", "--duration", "600 m"], "unknown unit `m`"),
    ],
)
def test_bad_arguments_give_one_line(words: list[str], message: str, capsys) -> None:
    assert run(["constellation", "--from", "43.6,1.44", "--to", "34,-118", *words]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_a_law_of_another_type_is_refused() -> None:
    with pytest.raises(clift.errors.ScenarioError, match="law = 'x': give a"):
        constellation.sky(60, 50, seed=1, law="x")  # type: ignore[arg-type]
