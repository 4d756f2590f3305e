"""Records of a file by trajectory, read when they are wanted: the file stays on disk, only the places of its lines are kept."""

import json
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmark.errors import UserError

Record = dict[str, Any]


class Lines:
    """`of` tells a record's trajectory. A torn last line is left out; `torn` has its bytes."""

    def __init__(self, path: Path, of: Callable[[Record], str]):
        self.path = path
        self.places: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
        self.torn = 0
        place = 0
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if line.endswith(b"\n"):
                    self.places[of(decoded(path, number, line))].append((place, len(line)))
                else:
                    self.torn = len(line)
                place += len(line)

    def read(self, trajectory: str) -> list[Record]:
        """Its records in the file's order."""
        records = []
        with self.path.open("rb") as file:
            for place, length in self.places.get(trajectory, ()):
                file.seek(place)
                records.append(json.loads(file.read(length)))
        return records


def decoded(path: Path, number: int, line: bytes) -> Record:
    try:
        return dict(json.loads(line))
    except ValueError:
        raise UserError(f"{path} line {number} is not a JSON record; something else has changed the file.") from None
