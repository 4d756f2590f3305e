"""The texts of a page: cut into pieces, each kept once, compressed in packs that the browser unpacks on demand."""

import base64
import gzip
import hashlib
import json
import re

from experiments.report import source

PACK = 400_000
"""Characters of a pack, as JSON: what a browser unpacks at once, in some milliseconds."""
CUT = re.compile(r"^(?=```|## |@|def |class )", re.MULTILINE)
"""Where texts are cut: fences, headings and top-level definitions. A kernel, the reply that brought it and the prompts that show it have
their pieces in common."""
COLOURED = 2_500_000
"""Characters of distinct pieces that are coloured; the rest stays plain, so that time is bounded where kernels share nothing."""
Ref = list[int]
"""A text as numbers of its pieces."""


class Shelf:
    """Numbers pieces by their content. Piece `n` lies in the last pack whose first number is no greater than `n`."""

    def __init__(self) -> None:
        self.known: dict[bytes, int] = {}
        self.starts: list[int] = []
        self.packs: list[str] = []
        """Base64 of gzip of a JSON list of pieces."""
        self.loose: list[str] = []
        """Pieces of the pack that is being filled, as JSON."""
        self.size = 0
        self.characters = 0
        """Of all texts that were put, before any of it was left out or compressed."""
        self.colours: dict[bytes, int] = {}
        self.coloured = 0
        """Characters of distinct pieces of sources that were coloured."""
        self.plain = 0
        """Characters of those that were not: COLOURED was reached."""

    def text(self, text: str) -> Ref:
        self.characters += len(text)
        return [self.piece(part) for part in CUT.split(text) if part]

    def code(self, text: str) -> list[Ref]:
        """A source's pieces, and for each of them the piece that tells how it is coloured."""
        self.characters += len(text)
        parts = [part for part in CUT.split(text) if part]
        return [[self.piece(part) for part in parts], [self.colour(part) for part in parts]]

    def colour(self, part: str) -> int:
        """The piece that tells how the part is coloured."""
        key = digest(part)
        if key not in self.colours:
            room = self.coloured + len(part) <= COLOURED
            self.coloured += len(part) if room else 0
            self.plain += 0 if room else len(part)
            self.colours[key] = self.piece(source.runs(part) if room else source.plain(part))
        return self.colours[key]

    def piece(self, text: str) -> int:
        key = digest(text)
        if key not in self.known:
            self.known[key] = len(self.known)
            self.loose.append(json.dumps(text))
            self.size += len(self.loose[-1])
            if self.size > PACK:
                self.close()
        return self.known[key]

    def close(self) -> None:
        """Packs what is loose."""
        if not self.loose:
            return
        self.starts.append(len(self.known) - len(self.loose))
        body = gzip.compress(f"[{','.join(self.loose)}]".encode(), 6, mtime=0)
        self.packs.append(base64.b64encode(body).decode())
        self.loose, self.size = [], 0


def digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).digest()
