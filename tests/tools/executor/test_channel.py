import socket

import pytest

from tools.executor import channel
from tools.executor.channel import LIMIT, Channel, Closed, Malformed, TooLong


def test_message_arrives_with_its_descriptors():
    ours, theirs = Channel.pair()
    with open("/dev/null") as file:
        ours.send({"op": "x"}, [file.fileno()])
        other = Channel(theirs)
        assert other.receive() == {"op": "x"}
        assert len(other.fds) == 1


@pytest.mark.parametrize(
    "data",
    [
        b"PASS", b"[1]", b"3", b'{"a": NaN}', b'{"a": Infinity}', b'{"a": 1e999}', b'{"a": ' + b"9" * 400 + b"}", b"\xff\xfe",
        b"[" * 50000, b'{"a": ' + b"[" * 40 + b"]" * 40 + b"}", b'{"a": "' + b"x" * LIMIT + b'"}', b"{",
    ],
)  # fmt: skip
def test_what_is_no_message_is_malformed(data):
    ours, theirs = Channel.pair()
    theirs.send(data)
    with pytest.raises(Malformed):
        ours.receive()


def test_whatever_is_received_can_be_sent_again_unless_it_is_too_long():
    ours, theirs = Channel.pair()
    theirs.send(b'{"a": [1e308, -5e-324, 123456789012345678901234567890, "\\ud800", [[[[{"b": null}]]]]]}')
    Channel(theirs).send(ours.receive())
    assert ours.receive()["a"][:2] == [1e308, -5e-324]
    theirs.send(b'{"a":[' + b",".join([b"1e15"] * 20000) + b"]}")
    with pytest.raises(TooLong):
        ours.send(ours.receive())


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


def test_who_answers_without_reading_holds_no_sender_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(channel, "SEND_S", 1)
    ours, _theirs = Channel.pair()

    def send_on() -> None:
        while True:
            ours.send({"op": "x" * 4096})

    with pytest.raises(Closed):
        send_on()
