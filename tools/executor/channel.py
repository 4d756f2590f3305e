"""Control messages between processes: strict JSON objects, one packet each, capped in length, depth and digits."""

import contextlib
import json
import math
import os
import select
import socket
import struct
from collections.abc import Iterator, Sequence
from typing import Any

LIMIT = 1 << 17
"""Bytes of one message. A longer one is cut by the kernel and counts as malformed."""
MAX_FDS = 8
SEND_S = 5
"""So long a message waits for room, which is there unless the other side answers what it has not read."""
MAX_DEPTH = 32
"""Objects and lists in one another. Who walks through a message does not run out of stack."""
MAX_DIGITS = 300
"""Of a whole number, so that each can be a float too."""

Message = dict[str, Any]


class Malformed(Exception):
    """The other side wrote what is no message. From a sandbox this is the candidate's doing."""


class TooLong(ValueError):
    """A message that is longer than may be sent."""


class Closed(Exception):
    """The other side is gone, or takes no more messages."""


def readable(fds: Sequence[int], seconds: float) -> list[int]:
    """Those of `fds` that can be read, or have ended, within the time."""
    poll = select.poll()
    for fd in fds:
        poll.register(fd, select.POLLIN)
    return [fd for fd, _ in poll.poll(max(0.0, seconds) * 1000)]


@contextlib.contextmanager
def enclosed(data: bytes) -> Iterator[int]:
    """The descriptor of a file in memory, at its start: for what goes along with a message and is too long for one."""
    fd = os.memfd_create("enclosed")
    try:
        os.write(fd, data)
        os.lseek(fd, 0, os.SEEK_SET)
        yield fd
    finally:
        os.close(fd)


class Channel:
    """One end of a pair of connected sockets that keeps the bounds of messages."""

    def __init__(self, sock: socket.socket, most_fds: int = MAX_FDS):
        """Of the descriptors that come with a message at most `most_fds` are taken, the kernel drops the others."""
        self.sock = sock
        self.most_fds = most_fds
        self.fds: list[int] = []
        """Descriptors that came with the last message; the receiver owns them."""

    @classmethod
    def pair(cls, most_fds: int = MAX_FDS) -> tuple["Channel", socket.socket]:
        """Our end, and the socket to hand to the other process."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", SEND_S, 0))
        return cls(ours, most_fds), theirs

    @classmethod
    def inherited(cls, fd: int, most_fds: int = MAX_FDS) -> "Channel":
        return cls(socket.socket(fileno=fd), most_fds)

    def fileno(self) -> int:
        return self.sock.fileno()

    def send(self, message: Message, fds: Sequence[int] = ()) -> None:
        """Raises `Closed`, also where the other side has let messages pile up, or `TooLong` for a message of more than `LIMIT` bytes."""
        data = json.dumps(message, allow_nan=False, ensure_ascii=False).encode("utf-8", "replace")
        if len(data) > LIMIT:
            raise TooLong(f"a message of {len(data)} bytes: {str(message)[:200]}")
        try:
            socket.send_fds(self.sock, [data], list(fds))
        except (BrokenPipeError, ConnectionResetError, BlockingIOError) as gone:
            raise Closed from gone

    def receive(self) -> Message:
        """The next message; blocks. Raises `Closed` or `Malformed`."""
        try:
            data, self.fds, flags, _ = socket.recv_fds(self.sock, LIMIT, self.most_fds)
        except ConnectionResetError as gone:
            raise Closed from gone
        if not data:
            raise Closed
        if flags & socket.MSG_TRUNC:
            raise Malformed("a message that is too long")
        try:
            message = json.loads(data, parse_constant=_float, parse_float=_float, parse_int=_int)
        except (ValueError, RecursionError) as error:
            raise Malformed(f"no JSON: {data[:80]!r}") from error
        if not isinstance(message, dict) or _deep(message):
            raise Malformed(f"no object, or too many in one another: {data[:80]!r}")
        return message

    def close(self) -> None:
        self.sock.close()


def _float(text: str) -> float:
    """A finite one: not even `1e999` stands for another in JSON."""
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is no number")
    return number


def _int(text: str) -> int:
    if len(text) > MAX_DIGITS:
        raise ValueError(f"{text[:80]} is too long a number")
    return int(text)


def _deep(message: Message) -> bool:
    level: list[Any] = [message]
    for _ in range(MAX_DEPTH):
        level = [item for node in level for item in (node.values() if isinstance(node, dict) else node if isinstance(node, list) else ())]
    return bool(level)
