"""The playback of a video as input of ITU-T P.1203 tools, mode 0 (metadata of segments)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from clift._parse import choice, fault, number

_SIZE = re.compile(r"[1-9]\d*x[1-9]\d*")


def record(
    video: tuple[float, list[int], list[int], float | None, list[tuple[float, float]], float],
    stream: int,
    resolutions: Sequence[str],
    fps: float,
    display: str,
    device: str,
    audio_kbps: float | None,
) -> dict[str, Any]:
    """The inputs IGen, I11, I13 and I23 of ITU-T P.1203 (2017, clause 7), as JSON of `itu_p1203`.

    Args:
        video: What the core says of the playback: segment duration in s, ladder and rates received
            in bit/s, start-up in s, interruptions (playing time before each, duration, in s), time
            played in s.
        stream: Number of the stream.
        resolutions: Resolution of each rate of the ladder.
        fps: Frames per second.
        display: Resolution of the display.
        device: "pc" or "mobile".
        audio_kbps: Rate of the audio; None: without audio.

    Raises:
        ScenarioError: If an argument is wrong.

    Example:
        >>> video = (4.0, [10**6], [10**6, 10**6], 0.5, [(4.0, 2.0)], 6.0)
        >>> found = record(video, 0, ["640x360"], 25, "1280x720", "pc", None)
        >>> [(one["start"], one["duration"]) for one in found["I13"]["segments"]]
        [(0.0, 4.0), (4.0, 2.0)]
        >>> found["I23"]["stalling"]
        [[0.0, 0.5], [4.0, 2.0]]
    """
    segment, ladder, rates, startup, interruptions, played = video
    cure = f"give one resolution for each of the {len(ladder)} rates of the ladder"
    if isinstance(resolutions, str) or len(resolutions) != len(ladder):
        raise fault("resolutions", resolutions, cure)
    for name, size in [*(("resolutions", one) for one in resolutions), ("display", display)]:
        if not isinstance(size, str) or not _SIZE.fullmatch(size):
            raise fault(name, size, 'give width and height, e.g. "1280x720"')
    choice("device", device, ("pc", "mobile"))
    fps = number("fps", fps, 1, 1000)
    audio_kbps = None if audio_kbps is None else number("audio_kbps", audio_kbps, 1, 10_000)
    starts = [place * segment for place in range(len(rates))]
    # The run may end while content waits in the buffer.
    shown = [(start, min(segment, played - start)) for start in starts if start < played]
    sound = [
        {"codec": "aaclc", "start": start, "duration": lasts, "bitrate": audio_kbps}
        for start, lasts in shown
        if audio_kbps is not None
    ]
    pictures = [
        {
            "codec": "h264",
            "start": start,
            "duration": lasts,
            "resolution": resolutions[ladder.index(rate)],
            "bitrate": rate / 1e3,
            "fps": fps,
            "representation": ladder.index(rate),
        }
        for (start, lasts), rate in zip(shown, rates, strict=False)
    ]
    stalls = [[0.0, startup]] if startup else []
    stalls += [list(one) for one in interruptions]
    return {
        "IGen": {"displaySize": display, "device": device},
        "I11": {"streamId": stream, "segments": sound},
        "I13": {"streamId": stream, "segments": pictures},
        "I23": {"streamId": stream, "stalling": stalls},
    }
