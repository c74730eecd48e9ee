"""Writing what the tests of readers read."""

from __future__ import annotations

from pathlib import Path


def file_of(folder: Path, content: str | bytes, name: str = "table.csv") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path
