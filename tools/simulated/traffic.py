"""Memory traffic of a launch: 32-byte sectors touched by each access, and the bytes that it touches at all."""

from typing import Any

import numpy as np

from tools.simulated.access import Access

SECTOR = 32
"""Bytes; the least that a memory transaction moves. Sectors are counted from the start of an allocation, which is aligned."""


class Traffic:
    """An access moves each sector that one of its lanes lies in once; repeated accesses count again, caches or not."""

    def __init__(self) -> None:
        self._sectors = {"load": 0, "store": 0, "atomic": 0}
        self._accesses = {"load": 0, "store": 0, "atomic": 0}
        self._touched: dict[tuple[int, str], Access] = {}

    def note(self, access: Access) -> None:
        self._sectors[access.kind] += _sectors(access)
        self._accesses[access.kind] += 1
        name = "loaded" if access.kind == "load" else "stored"
        access.storage.shadow(name, np.bool_)[access.where] = True
        self._touched.setdefault((id(access.storage), name), access)

    def report(self) -> dict[str, Any]:
        """Bytes: `sectors_loaded`, `sectors_stored`, `sectors_atomic`; without repetition `bytes_loaded`, `bytes_stored`; of the
        storages touched `span_loaded`, `span_stored`. And `loads`, `stores`: accesses, a block of lanes each."""
        unique, spans = {"loaded": 0, "stored": 0}, {"loaded": 0, "stored": 0}
        for (_, name), access in self._touched.items():
            unique[name] += int(np.count_nonzero(access.storage.shadows[name])) * access.storage.cell
            spans[name] += access.storage.high - access.storage.low
        sectors = {name: count * SECTOR for name, count in self._sectors.items()}
        return {
            "sectors_loaded": sectors["load"],
            "sectors_stored": sectors["store"],
            "sectors_atomic": sectors["atomic"],
            "bytes_loaded": unique["loaded"],
            "bytes_stored": unique["stored"],
            "span_loaded": spans["loaded"],
            "span_stored": spans["stored"],
            "loads": self._accesses["load"],
            "stores": self._accesses["store"] + self._accesses["atomic"],
        }


def _sectors(access: Access) -> int:
    shift = (SECTOR // access.storage.cell).bit_length() - 1
    where = access.where
    if isinstance(where, slice):
        return ((where.stop - 1) >> shift) - (where.start >> shift) + 1
    sectors = where >> shift
    if access.ascending:
        return 1 + int(np.count_nonzero(sectors[1:] != sectors[:-1]))
    scratch, lanes = access.storage.shadow("scratch", np.int32), np.arange(sectors.size, dtype=np.int32)
    # One lane of each sector finds its own number again.
    scratch[sectors] = lanes
    return int(np.count_nonzero(scratch[sectors] == lanes))
