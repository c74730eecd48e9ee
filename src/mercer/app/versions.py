"""What a bug report should say about the machine."""

from __future__ import annotations

import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from typing import TextIO

_PACKAGES = (
    "numpy",
    "scipy",
    "scikit-learn",
    "numba",
    "narwhals",
    "pandas",
    "polars",
    "torch",
    "triton",
    "dask",
    "rdkit",
    "matplotlib",
)


def versions() -> dict[str, str]:
    """Versions of Mercer, Python and what Mercer builds on; "not installed" for what is missing."""
    import mercer

    found = {"mercer": mercer.__version__, "python": sys.version.split()[0], "platform": platform.platform()}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found


def show_versions(file: TextIO | None = None) -> None:
    """Print versions, BLAS libraries, cores and devices: paste it into a bug report.

    On the command line: ``mercer versions``.

    Parameters
    ----------
    file : text file, optional
        Where to write; None: standard output.

    Examples
    --------
    >>> import io
    >>> import mercer as mc
    >>> text = io.StringIO()
    >>> mc.show_versions(text)
    >>> f"mercer: {mc.__version__}" in text.getvalue()
    True
    """
    from threadpoolctl import threadpool_info

    from mercer.arrays import device_name
    from mercer.compute import Compute, human, physical_memory

    out = file or sys.stdout
    rows = versions()
    for library in threadpool_info():
        rows[library["internal_api"]] = (
            f"{library.get('version')} ({library['num_threads']} threads,"
            f" {library.get('architecture', 'unknown kernels')})"
        )
    rows["threads"] = str(Compute().workers)
    rows["memory"] = f"{human(physical_memory())}, budget {human(Compute().budget)}"
    rows["device"] = device_name()
    for name, value in rows.items():
        out.write(f"{name:>14}: {value}\n")
