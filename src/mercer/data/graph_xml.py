"""Graphs in GraphML and GEXF: XML without document types, so that nothing in a file can refer to more than the file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from xml.parsers import expat

from mercer.data.tables import DataError, shown

_DEEPEST = 64  # elements inside each other; graphs need eight


@dataclass
class Element:
    """An element of XML: its name without namespace, attributes, text, parts, and the line that it begins in."""

    name: str
    attributes: dict[str, str]
    line: int
    text: str = ""
    parts: list[Element] = field(default_factory=list)

    def all(self, name: str) -> Iterator[Element]:
        """Its parts of this name."""
        return (part for part in self.parts if part.name == name)


@dataclass
class Drawn:
    """A graph as a file has it, with named attributes; what reads graphs of networkx reads it too."""

    vertices: dict[Any, dict[str, Any]] = field(default_factory=dict)
    links: list[tuple[Any, Any, dict[str, Any]]] = field(default_factory=list)
    directed: bool = False

    @property
    def adj(self) -> dict[Any, dict[str, Any]]:
        """What a graph of networkx is known by."""
        return self.vertices

    @property
    def nodes(self) -> _Nodes:
        """The attributes of vertices by name."""
        return _Nodes(self.vertices)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.vertices)

    def edges(self, data: bool = True) -> list[tuple[Any, Any, dict[str, Any]]]:
        """Both ends and the attributes of every edge."""
        return self.links

    def is_directed(self) -> bool:
        """Whether edges have a direction."""
        return self.directed

    def is_multigraph(self) -> bool:
        """Edges that are there twice are compared where they are read."""
        return False


class _Nodes(dict[Any, dict[str, Any]]):
    def __call__(self, data: bool = True) -> Any:
        return self.items()


def read_xml(content: bytes, wrong: Callable[[int, str], DataError]) -> Element:
    """The outermost element; ``wrong(line, what)`` makes the error where there is something wrong."""
    parser, open_ones = expat.ParserCreate(namespace_separator=" "), [Element("", {}, 0)]
    parser.buffer_text = True

    def begin(name: str, attributes: dict[str, str]) -> None:
        if len(open_ones) > _DEEPEST:
            raise wrong(parser.CurrentLineNumber, "elements are nested too deeply for a graph.")
        element = Element(name.rpartition(" ")[2], attributes, parser.CurrentLineNumber)
        open_ones[-1].parts.append(element)
        open_ones.append(element)

    def end(name: str) -> None:
        open_ones.pop()

    def text(found: str) -> None:
        open_ones[-1].text += found

    def refuse(*_: object) -> None:
        raise wrong(
            parser.CurrentLineNumber, "it declares a document type, which graphs do not need; delete that declaration."
        )

    parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = begin, end, text
    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = refuse
    try:
        parser.Parse(content, True)
    except expat.ExpatError as error:
        raise wrong(error.lineno, f"it is not well-formed XML ({expat.ErrorString(error.code)}).") from None
    except DataError:
        raise
    except (LookupError, ValueError) as error:  # of the encoding that it names
        raise wrong(1, f"its letters cannot be read ({str(error)[:100]}); save it as UTF-8.") from None
    return open_ones[0].parts[0]


_TRUTH = {"true": True, "1": True, "false": False, "0": False}
_TYPES: dict[str, Callable[[str], Any]] = {
    "int": int, "integer": int, "long": int, "short": int, "byte": int, "float": float, "double": float,
    "boolean": lambda text: _TRUTH[text.lower()], "string": str, "anyuri": str, "liststring": str,
}  # fmt: skip


class _Reader:
    """What GraphML and GEXF have in common: attributes that are declared with a type."""

    def __init__(self, root: Element, wrong: Callable[[int, str], DataError]) -> None:
        self.root, self.wrong = root, wrong

    def value(self, kind: str, text: str, line: int) -> Any:
        """A text as a value of its type."""
        try:
            return _TYPES.get(kind.lower(), str)(text.strip())
        except (ValueError, KeyError):
            raise self.wrong(line, f"{shown(text.strip())} is not of type {kind}.") from None

    def named(self, element: Element, name: str) -> str:
        """An attribute that an element must have."""
        if name not in element.attributes:
            raise self.wrong(element.line, f"<{element.name}> has no {name!r}.")
        return element.attributes[name]

    def link(self, g: Drawn, edge: Element, data: dict[str, Any]) -> None:
        """Add an edge between vertices that are there."""
        ends = self.named(edge, "source"), self.named(edge, "target")
        unknown = next((end for end in ends if end not in g.vertices), None)
        if unknown is not None:
            raise self.wrong(edge.line, f"the edge names the vertex {shown(unknown)}, which is not there.")
        g.links.append((*ends, data))

    def vertex(self, g: Drawn, node: Element, data: dict[str, Any]) -> None:
        """Add a vertex that is not there yet."""
        name = self.named(node, "id")
        if name in g.vertices:
            raise self.wrong(node.line, f"the vertex {shown(name)} is there twice.")
        g.vertices[name] = data

    def one_way(self, g: Drawn, edge: Element, *, directed: bool) -> None:
        """Refuse an edge that has a direction where others have none, or none where others have one."""
        if directed != g.directed:
            raise self.wrong(
                edge.line,
                f"the edge is {'directed' if directed else 'undirected'} and the graph is not; edges must be alike.",
            )


def graphml(root: Element, wrong: Callable[[int, str], DataError]) -> list[Drawn]:
    """The graphs of a GraphML file."""
    reader = _Reader(root, wrong)
    keys: dict[str, tuple[str, str, str]] = {}  # what it is of, its name, its type
    defaults: dict[str, dict[str, Any]] = {"node": {}, "edge": {}}
    for key in root.all("key"):
        name, kind = key.attributes.get("attr.name", reader.named(key, "id")), key.attributes.get("attr.type", "string")
        keys[key.attributes["id"]] = key.attributes.get("for", "all"), name, kind
        for default in key.all("default"):
            for noun in defaults:
                if keys[key.attributes["id"]][0] in (noun, "all"):
                    defaults[noun][name] = reader.value(kind, default.text, default.line)

    def data_of(element: Element) -> dict[str, Any]:
        found = dict(defaults[element.name])
        for part in element.parts:
            if part.name in ("graph", "port", "hyperedge"):
                raise wrong(part.line, f"a <{part.name}> in a <{element.name}> is more than a graph here has.")
            if part.name == "data":
                key = reader.named(part, "key")
                if key not in keys:
                    raise wrong(part.line, f"the key {shown(key)} is not declared.")
                if not part.parts:  # what has parts is of a drawing programme
                    found[keys[key][1]] = reader.value(keys[key][2], part.text, part.line)
        return found

    graphs = []
    for element in root.all("graph"):
        g = Drawn(directed=element.attributes.get("edgedefault") == "directed")
        for hyper in element.all("hyperedge"):
            raise wrong(hyper.line, "an edge joins two vertices here, a <hyperedge> several.")
        for node in element.all("node"):
            reader.vertex(g, node, data_of(node))
        for edge in element.all("edge"):
            said = edge.attributes.get("directed")
            if said is not None:
                reader.one_way(g, edge, directed=reader.value("boolean", said, edge.line))
            reader.link(g, edge, data_of(edge))
        graphs.append(g)
    return graphs


def gexf(root: Element, wrong: Callable[[int, str], DataError]) -> list[Drawn]:
    """The graphs of a GEXF file. The label of a vertex or edge is its attribute "label", the weight of an edge its
    "weight".
    """
    reader = _Reader(root, wrong)
    graphs = []
    for element in root.all("graph"):
        declared: dict[str, dict[str, tuple[str, str]]] = {"node": {}, "edge": {}}
        defaults: dict[str, dict[str, Any]] = {"node": {}, "edge": {}}
        for group in element.all("attributes"):
            noun = group.attributes.get("class", "node")
            for attribute in group.all("attribute"):
                name = attribute.attributes.get("title", reader.named(attribute, "id"))
                kind = attribute.attributes.get("type", "string")
                declared.setdefault(noun, {})[attribute.attributes["id"]] = name, kind
                for default in attribute.all("default"):
                    defaults.setdefault(noun, {})[name] = reader.value(kind, default.text, default.line)

        def data_of(
            one: Element,
            known: Mapping[str, Mapping[str, tuple[str, str]]] = declared,
            standard: Mapping[str, Mapping[str, Any]] = defaults,
        ) -> dict[str, Any]:
            found = dict(standard[one.name])
            if "label" in one.attributes:
                found["label"] = one.attributes["label"]
            if "weight" in one.attributes:
                found["weight"] = reader.value("double", one.attributes["weight"], one.line)
            for values in one.all("attvalues"):
                for value in values.all("attvalue"):
                    key = value.attributes.get("for", value.attributes.get("id", ""))
                    if key not in known[one.name]:
                        raise wrong(value.line, f"the attribute {shown(key)} is not declared.")
                    name, kind = known[one.name][key]
                    found[name] = reader.value(kind, reader.named(value, "value"), value.line)
            return found

        g = Drawn(directed=element.attributes.get("defaultedgetype") == "directed")
        for node in (node for group in element.all("nodes") for node in group.all("node")):
            if any(part.name == "nodes" for part in node.parts):
                raise wrong(node.line, "vertices inside of a vertex are more than a graph here has.")
            reader.vertex(g, node, data_of(node))
        for edge in (edge for group in element.all("edges") for edge in group.all("edge")):
            said = edge.attributes.get("type")
            if said in ("directed", "undirected"):
                reader.one_way(g, edge, directed=said == "directed")
            reader.link(g, edge, data_of(edge))
        graphs.append(g)
    return graphs
