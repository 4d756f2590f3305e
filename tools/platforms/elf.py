"""Sections and symbols of a 64-bit little-endian ELF file, the container of compiled kernels of every vendor."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass

SYMBOLS, NOTES, EMPTY = 2, 7, 8
"""Section types: a symbol table, notes, and memory that the file holds no bytes of."""
_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")


@dataclass(frozen=True)
class Section:
    name: str
    kind: int
    size: int
    data: bytes
    link: int
    """The section that this one refers to: of a symbol table its names."""


def sections(binary: bytes) -> list[Section]:
    """Raises `ValueError` where `binary` is no such file."""
    try:
        header = _HEADER.unpack_from(binary)
        if not header[0].startswith(b"\x7fELF\x02\x01"):
            raise ValueError("not a 64-bit little-endian ELF file")
        start, step, count, names = header[6], header[11], header[12], header[13]
        rows = [_SECTION.unpack_from(binary, start + step * number) for number in range(count)]
    except struct.error as error:
        raise ValueError("not a whole ELF file") from error
    found = [(row, b"" if row[1] == EMPTY else binary[row[4] : row[4] + row[5]]) for row in rows]
    return [Section(_text(found[names][1], row[0]), row[1], row[5], data, row[6]) for row, data in found]


def symbols(table: list[Section]) -> list[str]:
    """Names of the symbols, by index."""
    tables = [section for section in table if section.kind == SYMBOLS]
    return [_text(table[t.link].data, row[0]) for t in tables for row in _SYMBOL.iter_unpack(t.data)]


def notes(section: Section) -> Iterator[tuple[int, bytes]]:
    """Type and content of each note."""
    at, data = 0, section.data
    while at < len(data):
        name, size, kind = struct.unpack_from("<III", data, at)
        at += 12 + _aligned(name)
        yield kind, data[at : at + size]
        at += _aligned(size)


def _aligned(size: int) -> int:
    return -(-size // 4) * 4


def _text(table: bytes, at: int) -> str:
    return table[at : table.index(b"\0", at)].decode()
