"""The Python trace: arrays in and out, files, and what is refused."""

from __future__ import annotations

import gc
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import clift

DATA = Path(__file__).parent / "data"


def read_only(values: list[int]) -> np.ndarray:
    array = np.array(values, np.int64)
    array.flags.writeable = False
    return array


def test_read_only_arrays_are_shared_and_others_copied():
    mine = np.frombuffer(np.array([0, 1, 2], np.int64).tobytes(), np.int64)
    yours = np.array([0, 1, 2])
    assert np.shares_memory(clift.PhyTrace(mine, mine).t_ns, mine)
    # A mark can be taken back, and a view of a bytearray is none of ours.
    marked = read_only([0, 1, 2])
    kept = clift.PhyTrace(marked, marked)
    marked.flags.writeable = True
    marked[1] = -(10**15)
    assert kept.t_ns.tolist() == kept.d_ns.tolist() == [0, 1, 2]
    memory = bytearray(np.array([0, 1, 2], np.int64).tobytes())
    foreign = np.frombuffer(memory, np.int64)
    foreign.flags.writeable = False
    kept = clift.PhyTrace(foreign, foreign)
    memory[:] = bytes(len(memory))
    assert kept.t_ns.tolist() == [0, 1, 2]
    copied = clift.PhyTrace(yours, yours)
    yours[0] = 7
    assert copied.t_ns[0] == 0
    view = yours.view()
    view.flags.writeable = False
    assert not np.shares_memory(clift.PhyTrace([0, 1, 2], view).d_ns, yours)


def test_views_are_read_only_and_outlive_the_trace():
    phy = clift.PhyTrace(np.arange(1000), np.arange(1000))
    first, second = phy.t_ns, phy.t_ns
    assert np.shares_memory(first, second)
    del phy, second
    gc.collect()
    assert first.sum() == 499_500
    with pytest.raises(ValueError, match="WRITEABLE"):
        first.flags.writeable = True
    again = clift.PhyTrace(first, first)
    assert np.shares_memory(again.t_ns, first)


def test_masked_entries_are_refused():
    masked = np.ma.array([5, 5, 5], mask=[False, True, False])
    for t, d, name in [([0, 1, 2], masked, "d_ns"), (masked, [1, 1, 1], "t_ns")]:
        with pytest.raises(clift.TraceError, match=f"{name} has masked entries; fill them"):
            clift.PhyTrace(t, d)
    assert clift.PhyTrace([0, 1, 2], np.ma.array([5, 5, 5])).d_ns.tolist() == [5, 5, 5]


def test_a_memory_map_is_read_into_memory(tmp_path: Path):
    path = tmp_path / "t.bin"
    np.arange(100_000, dtype=np.int64).tofile(path)
    mapped = np.memmap(path, np.int64, mode="r")
    phy = clift.PhyTrace(mapped, mapped)
    path.write_bytes(b"")
    assert phy.t_ns.sum() == 4_999_950_000


@pytest.mark.parametrize("dtype", ["i1", "u1", "i4", "u4", ">i8", "u8"])
def test_integers_of_any_kind_are_taken(dtype: str):
    array = np.array([0, 3, 100], dtype)
    assert clift.PhyTrace(array, array[::-1]).d_ns.tolist() == [100, 3, 0]


@pytest.mark.parametrize(
    ("t", "d", "keys", "message"),
    [
        ([0.5], [1], {}, "t_ns holds float64, not integers; give whole nanoseconds"),
        ([0], [float("nan")], {}, "d_ns holds float64, not integers"),
        (["a"], [1], {}, "t_ns holds <U1, not integers"),
        ([True], [1], {}, "t_ns holds bool, not integers"),
        ([[0]], [1], {}, "t_ns must have one dimension"),
        ([], [], {}, "the trace is empty"),
        ([0, 1], [1], {}, "t has 2 values and d has 1"),
        ([0, 5, 5], [1, 1, 1], {}, "slot 2: t = 5 ns does not come after"),
        ([0, -5], [1, 1], {}, "slot 1: t = -5 ns is negative"),
        ([0], [2**61], {}, r"slot 0: t \+ d is over 2\^61 ns"),
        (np.array([2**63], "u8"), [1], {}, "t_ns holds 9223372036854775808 ns, over"),
        ([0], [1], {"lldu_bytes": 0}, "lldu_bytes = 0 is out of range"),
        ([0], [1], {"lldu_bytes": 33.0}, "lldu_bytes = 33.0 is not a whole number"),
        ([0], [1], {"decode_ns": -1}, "decode_ns = -1 is out of range"),
        ([0, 9], [1, 1], {"period_ns": 9}, "period_ns must be above 9"),
    ],
)
def test_invalid_traces_are_refused(t: object, d: object, keys: dict, message: str):
    with pytest.raises(clift.TraceError, match=message) as caught:
        clift.PhyTrace(t, d, **keys)  # type: ignore[arg-type]
    assert isinstance(caught.value, clift.CliftError)
    assert isinstance(caught.value, ValueError)
    assert "\n" not in str(caught.value)


def traces() -> st.SearchStrategy[clift.PhyTrace]:
    slots = st.lists(st.tuples(st.integers(1, 2**40), st.integers(0, 2**60)), min_size=1)
    text = st.none() | st.text(
        st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1
    )

    def make(slots: list[tuple[int, int]], lldu: int, decode: int | None, words: str | None):
        t = np.cumsum([gap for gap, _ in slots]) - 1
        d = [d for _, d in slots]
        return clift.PhyTrace(
            t,
            d,
            lldu,
            decode_ns=decode,
            rtt_ns=decode and decode - 1,
            period_ns=2**61,
            description=words,
        )

    time = st.none() | st.integers(1, 2**61)
    return st.builds(make, slots, st.integers(1, 2**32 - 1), time, text)


@given(traces())
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_trace_is_read_as_it_was_written(tmp_path_factory, suffix: str, phy: clift.PhyTrace):
    path = tmp_path_factory.mktemp("trace") / f"x.{suffix}"
    phy.write(path)
    back = clift.read_trace(path)
    np.testing.assert_array_equal(back.t_ns, phy.t_ns)
    np.testing.assert_array_equal(back.d_ns, phy.d_ns)
    keys = ("lldu_bytes", "decode_ns", "period_ns", "rtt_ns", "description", "source")
    for key in keys:
        assert getattr(back, key) == getattr(phy, key)


def test_parquet_of_several_row_groups_and_other_integers(tmp_path: Path):
    n = 5000
    table = pa.table(
        {
            "note": pa.array(["x"] * n),
            "d_ns": pa.array(np.arange(n) % 7, pa.uint16()),
            "t_ns": pa.array(np.arange(n) * 10, pa.int32()),
        }
    )
    pq.write_table(table, tmp_path / "x.parquet", row_group_size=700)
    phy = clift.read_trace(tmp_path / "x.parquet", lldu_bytes=8)
    np.testing.assert_array_equal(phy.t_ns, np.arange(n) * 10)
    np.testing.assert_array_equal(phy.d_ns, np.arange(n) % 7)
    assert phy.lldu_bytes == 8


@pytest.mark.parametrize("codec", ["none", "snappy", "zstd", "lz4"])
@pytest.mark.parametrize("page", ["1.0", "2.0"])
@pytest.mark.parametrize("dictionary", [True, False])
def test_files_of_pyarrow_are_read(tmp_path: Path, codec: str, page: str, dictionary: bool):
    steps = np.random.default_rng(1).integers(1, 1 << 40, 3000)
    times, delays = np.cumsum(steps), steps % 3
    table = pa.table({"t_ns": times, "d_ns": delays})
    keys = {"clift-trace": "1", "lldu_bytes": "40", "decode_ns": "7", "source": "a \u00e9\nb"}
    options = {"compression": codec, "data_page_version": page, "use_dictionary": dictionary}
    path = tmp_path / "x.parquet"
    pq.write_table(table.replace_schema_metadata(keys), path, row_group_size=800, **options)
    phy = clift.read_trace(path)
    np.testing.assert_array_equal(phy.t_ns, times)
    np.testing.assert_array_equal(phy.d_ns, delays)
    assert (phy.lldu_bytes, phy.decode_ns, phy.source) == (40, 7, "a \u00e9\nb")


def test_gzip_is_refused_with_a_cure(tmp_path: Path):
    table = pa.table({"t_ns": [0, 1], "d_ns": [1, 0]})
    pq.write_table(table, tmp_path / "x.parquet", compression="gzip")
    with pytest.raises(clift.TraceError, match="compressed with gzip; write the file with snappy"):
        clift.read_trace(tmp_path / "x.parquet")


def test_pyarrow_reads_our_files(tmp_path: Path):
    phy = clift.PhyTrace(range(0, 30000, 10), [5, 0, 7] * 1000, lldu_bytes=40, description="x")
    phy.write(tmp_path / "x.parquet")
    table = pq.read_table(tmp_path / "x.parquet")
    assert table.schema.names == ["t_ns", "d_ns"]
    assert set(table.schema.types) == {pa.int64()}
    np.testing.assert_array_equal(table["t_ns"].to_numpy(), phy.t_ns)
    np.testing.assert_array_equal(table["d_ns"].to_numpy(), phy.d_ns)
    expected = {b"clift-trace": b"1", b"lldu_bytes": b"40", b"description": b"x"}
    assert expected.items() <= table.schema.metadata.items()
    link = clift.tmt.apply(phy, "ARQ", rtt_ms=0)
    link.core.write(tmp_path / "l.parquet")
    table = pq.read_table(tmp_path / "l.parquet")
    for name in ("t_ns", "d_ns", "lost_ns", "transmissions"):
        np.testing.assert_array_equal(table[name].to_numpy(), getattr(link, name))
    assert table["transmissions"].type == pa.uint32()


def parquet(path: Path, columns: dict, metadata: dict[str, str] | None = None) -> None:
    pq.write_table(pa.table(columns).replace_schema_metadata(metadata), path)


@pytest.mark.parametrize(
    ("columns", "metadata", "message"),
    [
        ({"a": [1], "b": [2]}, None, "no column `t_ns`; a trace has t_ns and d_ns, this has `a"),
        ({"t_ns": [0]}, None, "no column `d_ns`"),
        ({"t_ns": [0.0], "d_ns": [1]}, None, "column `t_ns` holds double; give whole nanoseconds"),
        ({"t_ns": ["0"], "d_ns": [1]}, None, "column `t_ns` holds string"),
        ({"t_ns": [0, 1, 2], "d_ns": [1, None, 1]}, None, "row 1: `d_ns` is null; give 0"),
        ({"t_ns": [0, 5, 3], "d_ns": [1, 1, 1]}, None, "slot 2: t = 3 ns does not come after"),
        ({"t_ns": [0], "d_ns": [-1]}, None, "slot 0: d = -1 ns is negative"),
        ({"t_ns": pa.array([2**63], pa.uint64()), "d_ns": [1]}, None, "row 0: `t_ns` = 9223372036"),
        ({"t_ns": pa.array([], pa.int64()), "d_ns": pa.array([], pa.int64())}, None, "is empty"),
        ({"t_ns": [0], "d_ns": [1]}, {"lldu_bytes": "0"}, "`0` is not valid for lldu_bytes"),
        ({"t_ns": [0], "d_ns": [1]}, {"decode_ns": "soon"}, "`soon` is not valid for decode_ns"),
        ({"t_ns": [0], "d_ns": [1]}, {"clift-trace": "2"}, "format version `2` is not known"),
    ],
)
def test_a_foreign_parquet_gives_one_line(tmp_path: Path, columns, metadata, message: str):
    path = tmp_path / "x.parquet"
    parquet(path, columns, metadata)
    with pytest.raises(clift.TraceError, match=message) as caught:
        clift.read_trace(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("keep", [0, 3, 100, -1, -9])
def test_a_truncated_parquet_gives_one_line(tmp_path: Path, keep: int):
    path = tmp_path / "x.parquet"
    clift.PhyTrace(range(1000), [5] * 1000).write(path)
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(
        clift.TraceError, match="not a Parquet file, or its end is missing"
    ) as caught:
        clift.read_trace(path)
    assert "\n" not in str(caught.value)


def test_a_damaged_parquet_gives_one_line(tmp_path: Path):
    path = tmp_path / "x.parquet"
    clift.PhyTrace(np.cumsum(np.random.default_rng(1).integers(1, 99, 9999)), [5] * 9999).write(
        path
    )
    content = bytearray(path.read_bytes())
    content[40:2000] = bytes(1960)
    path.write_bytes(content)
    with pytest.raises(clift.TraceError) as caught:
        clift.read_trace(path)
    assert "\n" not in str(caught.value)


def test_a_chain_is_given_by_p_and_burst_as_in_files(tmp_path: Path):
    channel = 'model = "gilbert-elliott"\nerasures = 0.02\nburst = 2.5\np_good = 0.001\np_bad = 0.9'
    slots = 'slot = "1 ms"\ndecoding = "36 ms"\nlength = "20 s"\nseed = 7'
    file = tmp_path / "x.toml"
    file.write_text(f'duration = "5 s"\n[channel]\n{channel}\n{slots}\n')
    made = clift.Scenario.read(file).phy_trace()
    assert made is not None
    mean = {"p": 0.02, "burst": 2.5, "p_good": 0.001, "p_bad": 0.9}
    phy = clift.channel.gilbert_elliott(slots=20_000, slot_ns=10**6, seed=7, **mean)
    np.testing.assert_array_equal(made.d_ns, phy.d_ns)
    faults = [
        ({"p": 0.02}, "missing key `burst`: give the mean burst"),
        ({"burst": 2}, "missing key `p`: give the share of slots"),
        (
            {"p": 0.02, "burst": 2, "alpha": 0.9},
            "alpha = 0.9: give either `p` and `burst`, or `alpha` and",
        ),
        (
            {"p": 0.02, "burst": 0.5},
            "burst = 0.5: a burst of 0.5 slots is too short; give 1 slot or more",
        ),
        ({"p": 0.9, "burst": 2}, "burst = 2: this share of erasures needs bursts of at least 9"),
        (
            {"p": 0.5, "burst": 2, "p_bad": 0.4},
            "p = 0.5: 0.5 is not between p_good = 0 and p_bad = 0.4",
        ),
    ]
    for wrong, message in faults:
        with pytest.raises(clift.ScenarioError, match=message):
            clift.channel.gilbert_elliott(slots=100, **wrong)


def test_mahimahi_is_read_as_it_was_written(tmp_path: Path):
    phy = clift.read_trace(DATA / "cell.up")
    assert (len(phy), phy.lldu_bytes, phy.packing) == (150, 1504, "bytes")
    phy.write(tmp_path / "again.mahimahi")
    assert (tmp_path / "again.mahimahi").read_bytes() == (DATA / "cell.up").read_bytes()
    wide = clift.read_trace(DATA / "cell.up", lldu_bytes=1500)
    wide.write(tmp_path / "wide.down")
    assert (tmp_path / "wide.down").read_bytes() == (DATA / "cell.up").read_bytes()


def test_probes_keep_delay_and_loss():
    rows = np.genfromtxt(DATA / "probes.csv", delimiter=",", skip_header=1)
    keys = {"format": "probes", "direction": "down", "keep_order": False}
    phy = clift.read_trace(DATA / "probes.csv", **keys)
    lost = rows[:, 5] == 1
    np.testing.assert_array_equal(phy.d_ns == 0, lost)
    assert phy.rtt_ns is not None
    delays = phy.d_ns - 1 + phy.rtt_ns // 2
    np.testing.assert_allclose(delays[~lost] / 1e6, rows[~lost, 4], rtol=0, atol=1e-6)
    slots = clift.read_trace(DATA / "probes.csv", rate_kbps=2400, lldu_bytes=1500, **keys)
    np.testing.assert_array_equal(slots.d_ns[::2], phy.d_ns)
    assert slots.t_ns[1] == 5_000_000


def test_a_loss_pattern_needs_times(tmp_path: Path):
    path = tmp_path / "x.loss"
    path.write_text("110\n")
    with pytest.raises(clift.TraceError, match="give slot_ns"):
        clift.read_trace(path)
    with pytest.raises(clift.TraceError, match=r"give slot and decoding$"):
        clift.read_log(path)
    logged = clift.read_log(path, slot="10 ns", decoding="3 ns", lost=1)
    assert logged.d_ns.tolist() == [0, 0, 3]
    phy = clift.read_trace(path, slot_ns=10, decode_ns=3)
    assert phy.d_ns.tolist() == [3, 3, 0]
    turned = clift.read_trace(path, slot_ns=10, decode_ns=3, lost=1)
    assert turned.d_ns.tolist() == [0, 0, 3]
    with pytest.raises(clift.TraceError, match="lost = 2 is out of range; give 0 to 1"):
        clift.read_trace(path, slot_ns=10, decode_ns=3, lost=2)  # type: ignore[arg-type]
    phy.write(tmp_path / "x.runs")
    assert (tmp_path / "x.runs").read_text() == "2 1\n"
    back = clift.read_trace(tmp_path / "x.runs", slot_ns=10, decode_ns=3)
    assert back.t_ns.tolist() == [0, 10, 20]


def test_shares_offsets_and_statistics():
    phy = clift.PhyTrace(range(0, 100, 10), [5, 0] * 5)
    assert phy.share(3).t_ns.tolist() == [0, 30, 60, 90]
    assert phy.offset(75).t_ns.tolist() == [5, 15]
    assert phy.offset(0).t_ns.tolist() == phy.t_ns.tolist()
    assert phy.stats()["erasure_rate"] == 0.5
    with pytest.raises(clift.TraceError, match="leaves no slot"):
        phy.offset(91)
    with pytest.raises(clift.TraceError, match="n = 0 is out of range"):
        phy.share(0)


def test_a_failed_write_leaves_the_old_file(tmp_path: Path):
    short = clift.PhyTrace([0], [1], lldu_bytes=1500)
    for name, kind in [("x.up", None), ("x.parquet", "netem")]:
        path = tmp_path / name
        path.write_text("old")
        with pytest.raises(clift.TraceError):
            short.write(path, kind)  # type: ignore[arg-type]
        assert path.read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x.parquet", "x.up"]


def test_a_written_file_keeps_permissions_and_links(tmp_path: Path):
    phy = clift.PhyTrace([0], [1])
    for suffix in ("csv", "parquet"):
        real, link = tmp_path / f"real.{suffix}", tmp_path / f"link.{suffix}"
        real.write_text("old")
        real.chmod(0o640)
        link.symlink_to(real)
        phy.write(link)
        assert link.is_symlink()
        assert real.stat().st_mode & 0o777 == 0o640
        assert len(clift.read_trace(real)) == 1


def test_link_traces_from_arrays_are_checked_and_taken_by_value() -> None:
    t, d = np.array([0, 10, 20]), np.array([5, 0, 5])
    link = clift.LinkTrace(t, d, [0, 7, 0], [1, 2, 1], rtt_ms=1, lldu_bytes=[10, 20, 30])
    t[:], d[:] = 0, 0
    assert (link.t_ns.tolist(), link.d_ns.tolist()) == ([0, 10, 20], [5, 0, 5])
    assert link.slot_bytes is not None
    assert link.slot_bytes.tolist() == [10, 20, 30]
    assert link.stats()["efficiency"] == pytest.approx(40 / 80)
    assert pickle.loads(pickle.dumps(link)) == link
    bad: list[tuple[dict[str, Any], str]] = [
        ({"lost_ns": [1, 0, 0]}, "LLDU 0: is delivered"),
        ({"transmissions": [0, 1, 1]}, "LLDU 0: transmissions must be"),
        ({"lldu_bytes": [1, 2]}, "t has 3 values and bytes has 2"),
        ({"lldu_bytes": [0, 1, 2]}, "slot 0: an LLDU of 0 bytes"),
        ({"slots": 2}, "2 slots for 3 data LLDUs"),
        ({"lost_ns": np.ma.array([1, 2, 3], mask=[1, 0, 0])}, "lost_ns has masked entries"),
        ({"lost_ns": [0.5, 0, 0]}, "lost_ns holds float64, not integers"),
    ]
    for keys, expected in bad:
        with pytest.raises(clift.TraceError, match=expected):
            clift.LinkTrace([0, 10, 20], [5, 0, 5], **({"rtt_ms": 1} | keys))


def test_a_panic_of_the_parquet_crate_is_an_error_in_one_line(capfd) -> None:
    with pytest.raises(clift.CliftError, match="its content contradicts itself") as refused:
        clift.read_trace(DATA / "damaged/no_dictionary.parquet")
    assert "\n" not in str(refused.value)
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("live", [False, True])
def test_a_run_may_last_as_long_as_the_trace(tmp_path: Path, live: bool) -> None:
    """The last slot lasts until the next one would start."""
    (tmp_path / "x.csv").write_text("t_ns,d_ns\n" + "".join(f"{n}0000000,5\n" for n in range(200)))
    text = (
        'duration = "2 s"\ntrace = { file = "x.csv", lldu = "1500 B" }\n'
        f'link = {{ rtt = "20 ms", live = {str(live).lower()} }}\n'
    )
    study = clift.Scenario.parse(text, str(tmp_path / "x.toml"))
    assert clift.simulate(study).summary()["goodput_kbps"] > 0
    with pytest.raises(clift.SimulationError, match=r"ends at 1\.99\d s of the run"):
        clift.simulate(study.replace(duration_s=2.001))


def test_files_with_footers_of_any_length_are_read(tmp_path: Path) -> None:
    """The length stands behind the footer, where no header is."""
    for more in range(16):
        phy = clift.PhyTrace([0, 10], [5, 0], 100, source="x" * (3000 + more))
        phy.write(tmp_path / "x.parquet")
        assert len(clift.read_log(tmp_path / "x.parquet")) == 2, more
