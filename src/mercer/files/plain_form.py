"""What stands in a file in the place of a value."""

from __future__ import annotations

from typing import Any


class Plain:
    """The form of a value in the file; ``restored`` is the value."""

    def restored(self) -> Any:
        raise NotImplementedError
