"""Every public callable answers wrong values in one line; validation/wrong_calls.py tries all."""

import warnings
from pathlib import Path

import pytest

from validation import wrong_calls


def test_every_public_callable_is_tried() -> None:
    assert wrong_calls.missing() == set()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("every", "drawn"), [(29, 60), pytest.param(17, 300, marks=pytest.mark.long)]
)
def test_wrong_values_give_one_line(
    every: int, drawn: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Files that a call writes stay here.
    monkeypatch.chdir(tmp_path)
    wrong = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, given in (
            *wrong_calls.alone(every=every),
            *wrong_calls.drawn(drawn, seed=5),
        ):
            if found := wrong_calls.fault(name, given):
                wrong.append(f"{name}({wrong_calls.shown(given)}): {found}")
    assert wrong == []
