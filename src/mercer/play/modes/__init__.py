"""What one can do on the page: a mode a file. ``base`` says what a mode is, ``MODES`` lists them in the order of the
page.
"""

from __future__ import annotations

from mercer.play.modes.base import Mode
from mercer.play.modes.classify import Classify
from mercer.play.modes.cluster import Cluster
from mercer.play.modes.components import Components
from mercer.play.modes.draws import Draws
from mercer.play.modes.items import Molecules, Words
from mercer.play.modes.novelty import Novelty
from mercer.play.modes.regress import Regress
from mercer.play.modes.two_samples import TwoSamples
from mercer.play.modes.weights import Weights

MODES: dict[str, Mode] = {
    mode.name: mode
    for mode in (
        Classify(), Regress(), Cluster(), Components(), Novelty(), TwoSamples(), Words(), Molecules(), Weights(),
        Draws(),
    )
}  # fmt: skip
