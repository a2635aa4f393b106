"""Damaged results folders: noticed, named by `results --verify`, run again."""

import json
import os
import random
import re
import shutil
from pathlib import Path

import pytest
import small_study

import clift
from clift.campaign.saved import verify
from clift.cli.main import run


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "out"
    (tmp_path / "study.toml").write_text(small_study.text(3, "10 kB"))
    assert repeat(path) == 0
    return path


def repeat(folder: Path) -> int:
    study = str(folder.parent / "study.toml")
    return run(["sweep", study, "-o", str(folder), "--no-plots", "--quiet", "--threads", "1"])


def content(folder: Path) -> dict[str, bytes]:
    """The tables and the record."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file() and path.stat().st_size)


def flip(path: Path, draw: random.Random) -> None:
    data = bytearray(path.read_bytes())
    data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
    path.write_bytes(data)


@pytest.mark.parametrize("flips", [8, pytest.param(1000, marks=pytest.mark.long)])
def test_a_flipped_bit_changes_no_number(
    folder: Path, flips: int, capsys: pytest.CaptureFixture[str]
) -> None:
    draw, whole = random.Random(2), content(folder)
    assert run(["results", str(folder), "--json"]) == 0
    numbers = capsys.readouterr().out.splitlines()[-1]
    for _ in range(flips):
        path = draw.choice(files(folder))
        flip(path, draw)
        code = run(["results", str(folder), "--json"])
        out, err = capsys.readouterr()
        assert (code, err.count("\n")) == (2, 1) or out.splitlines()[-1:] == [numbers], path
        assert "unexpected" not in err, path
        assert repeat(folder) == 0, (path, capsys.readouterr().err)
        assert content(folder) == whole, path
        assert verify(folder)[1] == {}, path
        capsys.readouterr()


def test_what_is_damaged_is_named_and_only_that_is_done_again(
    folder: Path, capsys, caplog, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = content(folder)
    assert run(["results", "--verify", str(folder)]) == 0
    assert capsys.readouterr().out.endswith("checked, none damaged\n")
    part, table = sorted(folder.glob("store/runs/*"))[-1], folder / "series.parquet"
    spans = clift.campaign.parts.spans_of(part.name, part.name.split(".")[0])
    assert spans is not None
    for path in (part, table):
        flip(path, random.Random(2))
    assert run(["results", "--verify", str(folder), "--json"]) == 2
    out, err = capsys.readouterr()
    assert list(json.loads(out)["damaged"]) == [str(part), str(table)]
    assert f"{folder}: 2 of" in err
    ran: list[tuple[int, int]] = []
    usual = clift.campaign.work.Worker.run
    monkeypatch.setattr(
        clift.campaign.work.Worker,
        "run",
        lambda self, spans: (ran.extend(spans), usual(self, spans))[1],
    )
    assert repeat(folder) == 0
    assert f"{part}: damaged" in caplog.text
    places = [place for first, end in spans for place in range(first, end)]
    assert [place for first, end in ran for place in range(first, end)] == places
    assert content(folder) == whole


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("store/files.json", b""),
        ("store/files.json", b'{"files": [], "made": "0", "sha256": "0"}'),
        ("store/files.json", None),
        ("store/study.json", None),
        ("record.json", None),
        ("store/runs/*", None),
    ],
)
def test_what_lacks_or_is_emptied_is_named_too(
    folder: Path, name: str, damage: bytes | None
) -> None:
    whole = content(folder)
    path = sorted(folder.glob(name))[0]
    path.write_bytes(damage) if damage is not None else path.unlink()
    assert list(verify(folder)[1]) == [path.parent if "*" in name else path]
    assert repeat(folder) == 0
    assert content(folder) == whole
    assert verify(folder)[1] == {}


def test_a_file_under_the_name_of_another_is_not_taken(folder: Path) -> None:
    whole = content(folder)
    one, two = sorted(folder.glob("store/runs/*"))[:2]
    one.write_bytes(two.read_bytes())
    assert list(verify(folder)[1]) == [one]
    study, _, digest = two.name.split(".", 2)
    forged = two.with_name(f"{study}.0-1_5-1.{digest}")
    two.rename(forged)
    assert list(verify(folder)[1]) == sorted([one, forged])
    assert repeat(folder) == 0
    assert content(folder) == whole


def test_a_foreign_file_among_the_runs_is_no_damage(folder: Path, caplog) -> None:
    one = sorted(folder.glob("store/runs/*"))[0]
    study, _, rest = one.name.partition(".")
    copies = [
        one.with_name(name)
        for name in ("zz.parquet", f"{one.stem} (conflicted copy).parquet", f"{study[::-1]}.{rest}")
    ]
    count = verify(folder)[0]
    for copy in copies:
        copy.write_bytes(one.read_bytes())
    assert verify(folder) == (count, {})
    for copy in copies:
        assert f"{copy}: not a file of this study" in caplog.text
    assert repeat(folder) == 0
    assert all(copy.exists() for copy in copies)


def test_a_folder_that_cannot_be_written_is_verified(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = os.open

    def read_only(path, flags, *more, **options):
        if flags & (os.O_RDWR | os.O_WRONLY | os.O_CREAT):
            raise PermissionError(13, "Permission denied", str(path))
        return usual(path, flags, *more, **options)

    monkeypatch.setattr(os, "open", read_only)
    study = str(folder.parent / "study.toml")
    lock = folder / "store" / "lock"
    for there in (True, False):
        lock.unlink() if not there else None
        assert run(["results", str(folder), "--verify"]) == 0
        assert run(["run", study, "-o", str(folder), "--dry-run"]) == 0
        assert lock.exists() == there
    monkeypatch.undo()
    shutil.rmtree(folder / "store" / "runs")
    assert verify(folder)[1] == {folder / "store" / "runs": "lacks 6 finished runs"}
    assert repeat(folder) == 0
    assert verify(folder)[1] == {}


@pytest.mark.parametrize(
    "name", ["store/study.json", "store/files.json", "record.json", "runs.parquet", "store/lock"]
)
def test_a_fifo_or_a_link_is_refused_without_a_wait(folder: Path, name: str, capsys) -> None:
    path = folder / name
    path.unlink()
    os.mkfifo(path)
    assert run(["results", str(folder)]) in (0, 2)
    assert repeat(folder) in (0, 2)
    assert "unexpected" not in capsys.readouterr().err
    path.unlink(missing_ok=True)
    target = folder.parent / "target"
    target.write_text("kept")
    path.symlink_to(target)
    repeat(folder)
    assert target.read_text() == "kept"
    assert "unexpected" not in capsys.readouterr().err


def test_a_fifo_among_the_runs_is_named(folder: Path, capsys) -> None:
    path = next(folder.glob("store/runs/*"))
    path.unlink()
    os.mkfifo(path)
    assert repeat(folder) == 2
    assert f"{path}: cannot be read (not a regular file); remove" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["record.json", "store/study.json", "store/files.json"])
def test_json_of_many_brackets_gives_one_line(folder: Path, name: str, capsys) -> None:
    (folder / name).write_text("[" * 100_000)
    run(["results", str(folder)])
    run(["report", str(folder)])
    assert repeat(folder) == 0
    assert run(["results", str(folder)]) == 0
    assert "unexpected" not in capsys.readouterr().err


def test_a_record_without_hashes_is_read_with_a_note(folder: Path, caplog) -> None:
    record = json.loads((folder / "record.json").read_text())
    del record["sha256"]
    (folder / "record.json").write_text(json.dumps(record))
    assert clift.campaign.saved.read(folder).record == record
    assert "record.json: has no checksums, so damage is not noticed" in caplog.text


def test_a_damaged_name_makes_no_table_foreign(folder: Path) -> None:
    record, notes, whole = folder / "record.json", folder / "store/files.json", content(folder)
    places = [place.start() for place in re.finditer(rb"summary.parquet", whole["record.json"])]
    assert len(places) == 2
    for path, at in (
        *((record, place) for place in places),
        # Both places of the name, one after the other.
        (notes, notes.read_bytes().index(b"summary.parquet")),
        (record, 0),
    ):
        data = bytearray(path.read_bytes())
        data[at] ^= 1
        path.write_bytes(data)
        assert repeat(folder) == 0
        assert content(folder) == whole
