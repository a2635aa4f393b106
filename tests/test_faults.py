"""A small study whose n-th file-system call fails, for every n, and power that fails there.

After a failed call the command ends with one clear line. After a power failure the folder holds
only what was synced. Then the same command must find every batch that was reported as written, do
only the missing runs, and leave the tables of an undisturbed study.
"""

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import small_study

from clift.campaign import files, parts
from clift.campaign.store import Store
from clift.campaign.work import Worker
from clift.cli.main import run


class PowerLossError(BaseException):
    """The machine has no power any more."""


class FaultyDisk:
    """The module `os` for files of a folder, with calls of the system of which one fails.

    Keeps what a power failure leaves: of each file what was synced, and of each folder the names
    that it had when it was synced.

    Args:
        root: The folder.
        fails: Number of the call that fails; 0: none.
        power_loss: Whether the power fails there; otherwise that call returns an error.
    """

    def __init__(self, root: Path, fails: int, power_loss: bool) -> None:
        self.root, self.fails, self.power_loss = root, fails, power_loss
        self.calls: list[str] = []
        self.content: dict[int, bytes] = {}
        self.names: dict[Path, dict[str, int | None]] = {}

    def _call(self, what: str) -> None:
        self.calls.append(what)
        count = len(self.calls)
        if self.power_loss and 0 < self.fails <= count:
            raise PowerLossError
        if count == self.fails:
            raise OSError(28, "No space left on device")

    def __getattr__(self, name: str) -> Any:
        return getattr(os, name)

    def open(self, path: Path, flags: int, mode: int = 0o777) -> int:
        if flags & os.O_CREAT:
            self._call("open")
        return os.open(path, flags, mode)

    def file(self, handle: int, mode: str) -> io.FileIO:
        disk = self

        class Half(io.FileIO):
            """Takes half of what it is given, as a disk that fills up."""

            def write(self, content: Any) -> int:
                disk._call("write")
                return super().write(content[: len(content) // 2 + 1])

        return Half(handle, mode)

    def fsync(self, handle: int) -> None:
        self._call("sync")
        path = Path(f"/proc/self/fd/{handle}").readlink()
        if path.is_dir():
            self.names[path] = {
                one.name: None if one.is_dir() else one.stat().st_ino for one in path.iterdir()
            }
        else:
            self.content[os.fstat(handle).st_ino] = path.read_bytes()

    def rename(self, old: Path, new: Path) -> None:
        self._call("rename")
        old.rename(new)

    def unlink(self, path: Path) -> None:
        self._call("unlink")
        path.unlink()

    def mkdir(self, path: Path) -> None:
        self._call("mkdir")
        path.mkdir()

    def lose(self, early_names: bool) -> None:
        """Makes the folder what a power failure leaves of it.

        Args:
            early_names: Whether names reached the disk before they were synced.
        """
        names = dict(self.names)
        if early_names:
            for folder in [self.root, *(path for path in self.root.rglob("*") if path.is_dir())]:
                names[folder] = {
                    one.name: None if one.is_dir() else one.stat().st_ino
                    for one in folder.iterdir()
                }
        self._remove(self.root)
        self._restore(self.root, names)

    def _remove(self, folder: Path) -> None:
        for path in folder.iterdir():
            if path.is_dir():
                self._remove(path)
                path.rmdir()
            else:
                path.unlink()

    def _restore(self, folder: Path, names: dict[Path, dict[str, int | None]]) -> None:
        for name, inode in names.get(folder, {}).items():
            if inode is None:
                (folder / name).mkdir()
                self._restore(folder / name, names)
            else:
                (folder / name).write_bytes(self.content.get(inode, b""))


@contextmanager
def faulty(root: Path, fails: int, power_loss: bool = False) -> Iterator[FaultyDisk]:
    with pytest.MonkeyPatch.context() as patch:
        disk = FaultyDisk(root, fails, power_loss)
        patch.setattr(files, "os", disk)
        patch.setattr(files, "FileIO", disk.file)
        yield disk


def study(root: Path) -> int:
    """The study, with a batch a run, so that its calls are the same each time."""
    path = root.parent.parent / "study.toml"  # the record names it
    path.write_text(small_study.text(2, "3 kB"))
    command = ["sweep", str(path), "-o", str(root / "out")]
    return run([*command, "--no-plots", "--quiet", "--threads", "1"])


def tables(root: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (root / "out").iterdir() if path.is_file()}


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[Any]]:
    """The names of the batches that were written, and the places of the runs that were done."""
    found: dict[str, list[Any]] = {"files": [], "runs": []}
    write, work = Store.write, Worker.run

    def noted_write(self: Store, table: Any) -> str:
        name = write(self, table)
        found["files"].append(name)
        return name

    def noted_run(self: Worker, spans: Any) -> Any:
        found["runs"] += [place for first, end in spans for place in range(first, end)]
        return work(self, spans)

    monkeypatch.setattr(Store, "write", noted_write)
    monkeypatch.setattr(Worker, "run", noted_run)
    monkeypatch.setattr("clift.campaign.runner.Study._size", lambda _self: 1)
    return found


# Every 59th call is tried each time, and every one in the long test.
@pytest.mark.parametrize(
    ("failure", "first", "step"),
    [
        ("error", 3, 59),
        ("power", 17, 59),
        ("power, names early", 31, 59),
        *(
            pytest.param(failure, 1, 1, marks=pytest.mark.long)
            for failure in ("error", "power", "power, names early")
        ),
    ],
)
def test_a_study_outlasts_each_failed_call(
    failure: str, first: int, step: int, tmp_path: Path, written: dict[str, list[Any]], capsys
) -> None:
    whole = tmp_path / "whole" / "files"
    whole.mkdir(parents=True)
    with faulty(whole, 0) as disk:
        assert study(whole) == 0
    count, expected = len(disk.calls), tables(whole)
    assert {"open", "write", "sync", "rename", "mkdir", "unlink"} == set(disk.calls)
    capsys.readouterr()
    for fails in range(first, count + 1, step):
        root = tmp_path / str(fails) / "files"
        root.mkdir(parents=True)
        for found in written.values():
            found.clear()
        with faulty(root, fails, failure != "error") as disk:
            code = study(root)
        where = f"{failure} at call {fails} ({disk.calls[fails - 1]})"
        err = capsys.readouterr().err
        if failure == "error":
            # A failed removal of what nobody needs any more is no failure of the study.
            assert code in (0, 2), (where, err)
            assert code == 0 or err.splitlines()[-1].startswith("error: "), (where, err)
            assert "unexpected" not in err, (where, err)
            assert "Traceback" not in err, (where, err)
            assert list(root.rglob("*.partial")) == [], where
        else:
            disk.lose(failure == "power, names early")
        kept = {path.name for path in root.rglob("store/runs/*")}
        assert kept >= set(written["files"]), f"{where}: a finished batch is lost"
        study_key = next(iter(kept)).split(".")[0] if kept else ""
        there = {
            place
            for name in written["files"]
            for begin, end in parts.spans_of(name, study_key) or ()
            for place in range(begin, end)
        }
        written["runs"].clear()
        assert study(root) == 0, (where, capsys.readouterr().err)
        assert not there & set(written["runs"]), f"{where}: a finished run is done again"
        assert len(written["runs"]) == len(set(written["runs"])), f"{where}: a run is done twice"
        assert tables(root) == expected, f"{where}: other tables"
        assert list(root.rglob("*.partial")) == [], where
        capsys.readouterr()
