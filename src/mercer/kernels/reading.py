"""Kernel expressions read: numbers, lists, strings, names and calls, + · / and powers, and the methods of kernels;
nothing else.

One pass from left to right makes the kernels as it goes, so that the time is proportional to the length of the text:
sums and products of any number of terms are gathered before they are made. What can stand inside something else is
counted, and refused beyond a depth.
"""

from __future__ import annotations

import dataclasses
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from mercer.kernels.notation import NotationError, kernel_classes

if TYPE_CHECKING:
    from mercer.kernels.base import Kernel

LONGEST = 1_000_000  # characters
DEEPEST = 64  # calls, brackets, methods and powers inside each other
_LONGEST_NUMBER = 300  # digits: what is beyond has no floating point number
_EXAMPLE = "Write for example '2·Gaussian(γ=0.5) + Linear()'."
_SHOWN = 30  # characters on each side of a place

_SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_LOWERED = str.maketrans(_SUPERSCRIPTS, "0123456789")
_TOKEN = re.compile(
    rf"""\s*+(?:
      (?P<number>(?:[0-9][0-9_]*+(?:\.[0-9_]*+)?|\.[0-9][0-9_]*+)(?:[eE][+-]?[0-9]++)?)
    | (?P<name>(?![0-9{_SUPERSCRIPTS}])(?:(?![{_SUPERSCRIPTS}])\w)++)
    | (?P<string>'(?:[^'\\\n]|\\.)*+'|"(?:[^"\\\n]|\\.)*+")
    | (?P<described><[^<>]*+>)
    | (?P<raised>[{_SUPERSCRIPTS}]++)
    | (?P<sign>\*\*|[-+*/·^()\[\],.=])
    | (?P<end>\Z)
    | (?P<other>.)
    )""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.DOTALL)
_ESCAPED = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "\\": "\\",
    "'": "'",
    '"': '"',
    "0": "\0",
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "v": "\v",
    "\n": "",
}


class Token(NamedTuple):
    """A piece of the text: what kind it is of, its characters, and where it begins."""

    kind: str
    text: str
    start: int


class Reader:
    """Reads one text. ``next`` is the token that has not been used yet."""

    def __init__(self, text: str, names: Mapping[str, Any]) -> None:
        from mercer.kernels.compose.algebra import FUNCTIONS

        if not isinstance(text, str):
            raise NotationError(f"A kernel expression is a text, not a {type(text).__name__}. {_EXAMPLE}", "M201")
        if len(text) > LONGEST:
            raise NotationError(
                f"The text has {len(text)} characters; a kernel expression has at most {LONGEST}.", "M201"
            )
        classes = kernel_classes()
        constants = {"inf": float("inf"), "nan": float("nan"), "True": True, "False": False, "None": None}
        self.names = {**classes, **FUNCTIONS, **constants, **names}
        self.methods = {cls.method_name: cls for cls in classes.values() if hasattr(cls, "method_name")}
        self.text, self.at, self.depth = text, 0, 0
        self.next = self._token()

    def kernel(self) -> Kernel:
        """What the whole text describes."""
        from mercer.kernels.base import Kernel

        try:
            value = self._expression()
        except RecursionError:
            raise NotationError(
                f"The text {self._excerpt(self.at)} is nested too deeply for what is left of Python's stack.", "M201"
            ) from None
        if self.next.kind != "end":
            self._refuse()
        if not isinstance(value, Kernel):
            raise NotationError(
                f"The text {self._excerpt(0)} describes a {type(value).__name__}, which is not a kernel. {_EXAMPLE}",
                "M201",
            )
        return value

    # -- tokens ------------------------------------------------------------------------------------------------------

    def _token(self) -> Token:
        found = _TOKEN.match(self.text, self.at)
        assert found is not None  # ``end`` and ``other`` match whatever is left
        assert found.lastgroup is not None
        self.at = found.end()
        return Token(found.lastgroup, found[found.lastgroup], found.start(found.lastgroup))

    def _advance(self) -> Token:
        """The next token, used."""
        used, self.next = self.next, self._token()
        return used

    def _take(self, *signs: str) -> str | None:
        """The next token if it is one of these signs."""
        return self._advance().text if self.next.kind == "sign" and self.next.text in signs else None

    def _expect(self, sign: str) -> None:
        if self._take(sign) is None:
            self._refuse(f", where {sign!r} was expected")

    def _refuse(self, expected: str = "") -> NoReturn:
        token = self.next
        if token.kind == "end":
            self._fail(token.start, f"is not a kernel expression: it ends too early{expected}. {_EXAMPLE}")
        if token.text in ("'", '"'):
            self._fail(
                token.start,
                f"is not a kernel expression: the string that begins with {token.text} does not end on its line.",
            )
        self._fail(
            token.start,
            f"is not a kernel expression: {_quoted(token.text)} has no place in a kernel expression{expected}."
            f" {_EXAMPLE}",
        )

    def _fail(self, at: int, what: str, cause: BaseException | None = None) -> NoReturn:
        raise NotationError(f"At character {at + 1}: {self._excerpt(at)} {what}", "M201") from cause

    def _excerpt(self, at: int) -> str:
        """The text around a place."""
        start, end = max(0, at - _SHOWN), min(len(self.text), at + _SHOWN)
        return ("…" if start else "") + repr(self.text[start:end]) + ("…" if end < len(self.text) else "")

    @contextmanager
    def _nested(self, levels: int = 1) -> Iterator[None]:
        self._deeper(levels)
        yield
        self.depth -= levels

    def _deeper(self, levels: int = 1) -> None:
        self.depth += levels
        if self.depth > DEEPEST:
            self._fail(
                self.next.start, f"is nested more than {DEEPEST} deep: calls, brackets, methods and powers together."
            )

    # -- grammar -----------------------------------------------------------------------------------------------------

    def _expression(self) -> Any:
        """Terms with + between them, each of factors with · or / between them."""
        start, terms = self.next.start, []
        while True:
            first, factors = self.next.start, [("", self._power())]
            while (sign := self._take("*", "·", "/")) is not None:
                factors.append((sign, self._power()))
            terms.append(factors[0][1] if len(factors) == 1 else self._made(first, _product, factors))
            if self._take("+") is None:
                break
        if self.next.text == "-":
            self._fail(self.next.start, "is not a kernel: kernels are combined with +, ·, / and powers.")
        return terms[0] if len(terms) == 1 else self._made(start, _sum, terms)

    def _power(self) -> Any:
        start = self.next.start
        if self._take("-") is not None:
            with self._nested():
                value = self._power()
                return self._made(start, lambda: -value)
        value, levels = self._operand(), 0
        while self.next.kind == "raised" or self.next.text in ("**", "^"):
            self._deeper()
            levels += 1
            used = self._advance()
            exponent = self._number(used, used.text.translate(_LOWERED)) if used.kind == "raised" else self._power()
            value = self._made(start, _raised, value, exponent)
        self.depth -= levels
        return value

    def _operand(self) -> Any:
        """A number, a string, a list, a name, a call or an expression in parentheses, and the methods called on it."""
        start, levels = self.next.start, 0
        value = self._atom()
        while self._take(".") is not None:
            self._deeper()
            levels += 1
            name = self._advance()
            if name.text not in self.methods or self.next.text != "(":
                self._fail(
                    name.start,
                    f"has no place in a kernel expression: {_quoted(name.text)} is not a method that makes a kernel of"
                    " a kernel.",
                )
            arguments, options = self._arguments({})
            value = self._made(start, self.methods[name.text], value, *arguments, **options)
        self.depth -= levels
        return value

    def _atom(self) -> Any:
        token = self.next
        if token.kind == "number":
            return self._number(self._advance(), token.text)
        if token.kind == "string":
            return self._string(self._advance())
        if token.kind in ("name", "described"):
            return self._named(self._advance())
        if self._take("(") is not None:
            items, alone = self._items(")")
            return items[0] if alone else items
        if self._take("[") is not None:
            return self._items("]")[0]
        return self._refuse()

    def _items(self, closing: str) -> tuple[list[Any], bool]:
        """Expressions up to a closing bracket, and whether it is one without a comma."""
        items: list[Any] = []
        with self._nested():
            while self._take(closing) is None:
                items.append(self._expression())
                if self._take(",") is None:
                    self._expect(closing)
                    return items, len(items) == 1
        return items, False

    def _named(self, token: Token) -> Any:
        """What a name stands for, called if arguments follow."""
        name = unicodedata.normalize("NFKC", token.text) if token.kind == "name" else token.text
        if name not in self.names:
            if token.kind == "described":
                self._fail(
                    token.start,
                    f"is not a kernel expression by itself: say what {_quoted(name)} stands for, parse(text,"
                    f" {{{_quoted(name)}: …}}).",
                )
            self._fail(
                token.start,
                f"begins with a name that is not known: {_quoted(name)} is not the name of a kernel; `mercer kernels`"
                " lists them. Give other names in parse(text, names).",
            )
        value = self.names[name]
        if self.next.text != "(" or token.kind == "described":
            return value
        if not callable(value):
            self._fail(token.start, f"calls {_quoted(name)}, which cannot be called.")
        symbols = {
            unicodedata.normalize("NFKC", f.metadata["symbol"]): f.name
            for f in _fields(value)
            if f.metadata.get("symbol")
        }
        arguments, options = self._arguments(symbols)
        return self._made(token.start, value, *arguments, **options)

    def _arguments(self, symbols: Mapping[str, str]) -> tuple[list[Any], dict[str, Any]]:
        """The arguments of a call, by position and by name; ``symbols`` are other names of parameters."""
        arguments: list[Any] = []
        options: dict[str, Any] = {}
        with self._nested():
            self._expect("(")
            while self._take(")") is None:
                token = self.next
                name = self._keyword()
                if name is None and options:
                    self._fail(token.start, "has an argument without a name after one with a name.")
                if name is None:
                    arguments.append(self._expression())
                elif (name := symbols.get(name, name)) in options:
                    self._fail(token.start, f"gives the parameter {_quoted(name)} twice.")
                else:
                    options[name] = self._expression()
                if self._take(",") is None:
                    self._expect(")")
                    break
        return arguments, options

    def _keyword(self) -> str | None:
        """The name of the argument that comes next, where it has one."""
        if self.next.kind != "name":
            return None
        before, place = self.next, self.at
        self._advance()
        if self._take("=") is not None:
            return unicodedata.normalize("NFKC", before.text)
        self.next, self.at = before, place
        return None

    # -- values ------------------------------------------------------------------------------------------------------

    def _number(self, token: Token, digits: str) -> int | float:
        if len(digits) > _LONGEST_NUMBER:
            self._fail(token.start, f"has a number of {len(digits)} digits; there are none beyond {_LONGEST_NUMBER}.")
        try:
            return float(digits) if set(digits) & set(".eE") else int(digits)
        except ValueError:
            self._fail(token.start, f"has no number at this place: {_quoted(digits)}.")

    def _string(self, token: Token) -> str:
        def unescaped(found: re.Match[str]) -> str:
            code = found[1] or found[2] or found[3]
            if code is None:
                return _ESCAPED.get(found[4], found[0])
            if int(code, 16) > 0x10FFFF:
                self._fail(token.start, f"has no character {_quoted(found[0])}.")
            return chr(int(code, 16))

        return _ESCAPE.sub(unescaped, token.text[1:-1])

    def _made(self, start: int, make: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        """What a constructor, method or operator gives; whatever it has to complain about is said of the place."""
        try:
            return make(*arguments, **options)
        except (NotationError, RecursionError):
            raise
        except Exception as error:  # what it is given is of any kind, and so are the errors
            self._fail(start, f"is not a kernel: {_cut(str(error) or type(error).__name__, 400)}", error)


def _sum(terms: list[Any]) -> Kernel:
    from mercer.kernels.compose.algebra import add

    _check_kernels(terms)
    return add(*terms)


def _product(factors: list[tuple[str, Any]]) -> Kernel:
    from mercer.kernels.compose.algebra import multiply, reciprocal

    values: list[Any] = [reciprocal(value) if sign == "/" else value for sign, value in factors]
    _check_kernels(values)
    first, second, *others = values
    return multiply(second, first, *others) if isinstance(first, int | float) else multiply(*values)


def _raised(value: Any, exponent: Any) -> Any:
    _check_kernels([value])
    return value**exponent


def _check_kernels(values: list[Any]) -> None:
    from mercer.kernels.base import Kernel

    if not any(isinstance(value, Kernel) for value in values[:2]):
        raise TypeError("arithmetic in a kernel expression is between kernels, or a kernel and a number.")


def _fields(target: object) -> tuple[dataclasses.Field[Any], ...]:
    return dataclasses.fields(target) if dataclasses.is_dataclass(target) else ()


def _quoted(text: str) -> str:
    """A piece of the text as it may stand in a message."""
    return repr(_cut(text, 60))


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[:most] + "…"
