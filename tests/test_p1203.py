"""The input of ITU-T P.1203 tools that `Run.p1203` writes."""

import json
import pickle
import re
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest

import clift

GUIDE = Path(__file__).parents[1] / "docs" / "concepts" / "video.md"
SIZES = ["320x180", "640x360", "1280x720"]
NUMBER = {"type": "number", "minimum": 0}


def _object(**keys: Any) -> dict[str, Any]:
    about = {"type": "object", "properties": keys, "required": list(keys)}
    return about | {"additionalProperties": False}


def _list(name: str, item: dict[str, Any]) -> dict[str, Any]:
    return _object(streamId={"type": "integer"}, **{name: {"type": "array", "items": item}})


def _segment(codec: str, **more: Any) -> dict[str, Any]:
    times = {"start": NUMBER, "duration": NUMBER}
    return _object(codec={"const": codec}, bitrate=NUMBER, **times, **more)


SIZE = {"type": "string", "pattern": r"^\d+x\d+$"}
PAIR = {"type": "array", "items": NUMBER, "minItems": 2, "maxItems": 2}
# As the README of itu_p1203 describes its input, mode 0; its examples call the size `resolution`.
SCHEMA = _object(
    IGen=_object(displaySize=SIZE, device={"enum": ["pc", "mobile"]}),
    I11=_list("segments", _segment("aaclc")),
    I13=_list(
        "segments",
        _segment("h264", resolution=SIZE, fps=NUMBER, representation={"type": "integer"}),
    ),
    I23=_list("stalling", PAIR),
)


def played(duration_s: float, **changes: Any) -> clift.Run:
    video = {
        "type": "video",
        "ladder": ["300 kbit/s", "1 Mbit/s", "3 Mbit/s"],
        "segment": "2 s",
        "length": "40 s",
        "buffer": "20 s",
    }
    leg = {"rate": "1.2 Mbit/s", "delay": "50 ms", "outages": [["4 s", "25 s"]]}
    values = {"application": video | changes, "path": [{"leg": leg}]}
    return clift.simulate(clift.Scenario(values, duration_s=duration_s))


@pytest.mark.parametrize("duration_s", [200, 31.5, 10])
def test_segments_and_stalls_are_those_of_the_run(duration_s: float) -> None:
    run = played(duration_s)
    found = json.loads(json.dumps(run.p1203(SIZES, audio_kbps=96)))
    jsonschema.validate(found, SCHEMA)
    video = run.summary()["flows"][0]["video"]
    segments = found["I13"]["segments"]
    ends = [0.0, *(one["start"] + one["duration"] for one in segments)]
    assert [one["start"] for one in segments] == pytest.approx(ends[:-1])
    assert ends[-1] == pytest.approx(video["played_s"])
    assert [one["duration"] for one in found["I11"]["segments"]] == [
        one["duration"] for one in segments
    ]
    (first, startup), *stalls = found["I23"]["stalling"]
    assert (first, startup) == (0, pytest.approx(video["startup_s"]))
    assert len(stalls) == video["stalls"]
    assert sum(lasts for _, lasts in stalls) == pytest.approx(video["stalled_s"])
    # The outage empties the buffer after some whole segments.
    assert all(before % 2 == 0 for before, _ in stalls)
    assert sum(lasts for _, lasts in stalls) > 5 or duration_s == 10
    for one in segments:
        assert one["bitrate"] == [300, 1000, 3000][one["representation"]]
        assert one["resolution"] == SIZES[one["representation"]]
    if duration_s == 200:
        mean = sum(one["bitrate"] for one in segments) / len(segments)
        assert mean == pytest.approx(video["video_rate_kbps"])
    # A run of another process has the same.
    assert pickle.loads(pickle.dumps(run)).p1203(SIZES, audio_kbps=96) == found


def test_what_cannot_be_written_is_said() -> None:
    run = played(10)
    for arguments, told in (
        ({"resolutions": SIZES[:2]}, "give one resolution for each of the 3 rates"),
        ({"resolutions": ["a", *SIZES[1:]]}, 'give width and height, e.g. "1280x720"'),
        ({"resolutions": SIZES, "flow": 1}, "has no video"),
        ({"resolutions": SIZES, "device": "tv"}, "give 'pc' or 'mobile'"),
        ({"resolutions": SIZES, "fps": 0}, "give a number from 1 to 1000"),
    ):
        with pytest.raises(clift.ScenarioError, match=re.escape(told)):
            run.p1203(**arguments)


def test_the_guide_writes_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = GUIDE.read_text()
    [block] = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    example = GUIDE.parents[2] / "examples" / "video.toml"
    (tmp_path / "examples").mkdir()
    shorter = example.read_text().replace('duration = "400 s"', 'duration = "20 s"')
    (tmp_path / "examples" / "video.toml").write_text(shorter)
    monkeypatch.chdir(tmp_path)
    exec(compile(block, str(GUIDE), "exec"), {})
    jsonschema.validate(json.loads((tmp_path / "video.json").read_text()), SCHEMA)
