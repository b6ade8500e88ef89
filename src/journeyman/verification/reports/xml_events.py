"""Untrusted XML, element by element: never a whole tree in memory, no declarations, no entities.

A document type can name files of this machine or grow to gigabytes when it is expanded, and no test report
needs one.
"""

from collections.abc import Callable, Mapping
from xml.parsers import expat

_CHUNK = 1 << 16
_DEEPEST = 100
_MOST_TEXT = 8_000

OnStart = Callable[[str, Mapping[str, str]], None]
OnEnd = Callable[[str, str], None]
"""Called with the element's name and the beginning of the text directly in it."""


def parse_xml(content: bytes, on_start: OnStart, on_end: OnEnd, *, is_cut: bool = False) -> None:
    """Raises ValueError for what is not well-formed, or declares a document type; a cut end is no error."""
    parser = expat.ParserCreate(namespace_separator=" ")
    texts: list[list[str]] = []

    def start(name: str, attributes: dict[str, str]) -> None:
        if len(texts) >= _DEEPEST:
            raise ValueError("elements are nested too deeply")
        texts.append([])
        on_start(_local(name), attributes)

    def end(name: str) -> None:
        on_end(_local(name), "".join(texts.pop())[:_MOST_TEXT])

    def text(data: str) -> None:
        if texts and len(texts[-1]) < _MOST_TEXT:
            texts[-1].append(data)

    def refuse(*_: object) -> None:
        raise ValueError("a report may not declare a document type")

    parser.buffer_text = True
    parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = start, end, text
    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = refuse
    try:
        for place in range(0, len(content), _CHUNK):
            parser.Parse(content[place : place + _CHUNK], False)
        if not is_cut:
            parser.Parse(b"", True)
    except expat.ExpatError as error:
        raise ValueError(f"is not XML: {error}") from None


def _local(name: str) -> str:
    return name.rpartition(" ")[2]
