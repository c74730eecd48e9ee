"""What a page would ask, and what it would be told."""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.play.modes import MODES
from mercer.play.queue import refusal
from mercer.play.state import Data
from mercer.play.views import View

SOME = {"family": "moons", "n": 40, "seed": 0}


@dataclass
class Frame:
    """A frame, read as the page reads it."""

    header: dict[str, Any]
    arrays: dict[str, Any]

    @property
    def view(self) -> str:
        return self.header["view"]

    @property
    def data(self) -> dict[str, Any]:
        return self.header["data"]


def decoded(frame: bytes) -> Frame:
    """The header and the arrays of a frame, which fills its bytes."""
    (long,) = struct.unpack_from("<I", frame)
    header = json.loads(frame[4 : 4 + long])
    arrays, end = {}, 4 + long
    for said in header["arrays"]:
        at, count = 4 + long + said["at"], int(np.prod(said["shape"]))
        assert at % 8 == 0
        arrays[said["name"]] = np.frombuffer(frame, said["dtype"], count, at).reshape(said["shape"])
        end = at + -(-arrays[said["name"]].nbytes // 8) * 8
    assert end == len(frame)
    return Frame(header, arrays)


def state(mode: str, **given: Any) -> Any:
    """The state of a mode, from what a page says of it."""
    return MODES[mode].state(given)


def views(mode: str, *, brief: bool = False, table: Data | None = None, **given: Any) -> dict[str, View]:
    """The views of a state by name; of two of one name the last."""
    return {view.name: view for view in MODES[mode].answers(MODES[mode].state(given, table), brief=brief)}


def numbers(view: View) -> list[float]:
    """The numbers under a picture."""
    return [one["value"] for one in view.data["numbers"]]


def why(error: Exception) -> str:
    """What the page is told: words, of a request that is refused, and not of a fault."""
    said = refusal(error).data
    assert said.get("code") != "fault"
    assert said["message"].strip()
    assert "Traceback" not in said["message"]
    assert len(said["message"]) <= 600
    return said["message"]
