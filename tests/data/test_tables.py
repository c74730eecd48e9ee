"""Tables and messages about what is in them."""

from __future__ import annotations

import pytest

import mercer as mc
from mercer.data.tables import shown


class _Unshowable:
    def __repr__(self) -> str:
        raise RuntimeError("no")


def test_what_messages_show() -> None:
    assert shown("ab") == "'ab'"
    assert len(shown("a" * 1000)) == 198
    assert shown(10**5000) == "an object of type int that cannot be shown"
    assert shown(_Unshowable()) == "an object of type _Unshowable that cannot be shown"
    for bad in (10**5000, _Unshowable()):
        with pytest.raises(mc.DataError, match=r"Item 0 of the sets is an object of type .* that cannot be shown"):
            mc.Intersection()([bad])
    with pytest.raises(mc.DataError, match="got one dict; put it in a list"):
        mc.Spectrum(2)({"a": 1})
