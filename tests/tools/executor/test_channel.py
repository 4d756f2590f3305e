import socket

import pytest

from tools.executor.channel import LIMIT, Channel, Closed, Malformed


def test_message_arrives_with_its_descriptors():
    ours, theirs = Channel.pair()
    with open("/dev/null") as file:
        ours.send({"op": "x"}, [file.fileno()])
        other = Channel(theirs)
        assert other.receive() == {"op": "x"}
        assert len(other.fds) == 1


@pytest.mark.parametrize(
    "data",
    [b"PASS", b"[1]", b"3", b'{"a": NaN}', b'{"a": Infinity}', b"\xff\xfe", b"[" * 50000, b'{"a": "' + b"x" * LIMIT + b'"}', b"{"],
)
def test_what_is_no_message_is_malformed(data):
    ours, theirs = Channel.pair()
    theirs.send(data)
    with pytest.raises(Malformed):
        ours.receive()


def test_end_of_the_other_side_is_closed():
    ours, theirs = Channel.pair()
    theirs.close()
    with pytest.raises(Closed):
        ours.receive()
    with pytest.raises(Closed):
        ours.send({})


def test_messages_keep_their_bounds():
    ours, theirs = Channel.pair()
    for number in range(3):
        Channel(socket.socket(fileno=socket.dup(theirs.fileno()))).send({"n": number})
    assert [ours.receive()["n"] for _ in range(3)] == [0, 1, 2]
