"""What the guest says over its serial port."""

import base64
import socket
import threading
import time

import pytest

from tessera.lab.kernel.qemu import Channel, ChannelClosed, GuestFile, GuestQuery, connect_channel


def talk(data, deadline_seconds=5.0):
    guest, host = socket.socketpair()
    guest.sendall(data)
    return guest, Channel(host, time.monotonic() + deadline_seconds)


def test_requests_and_files_until_bye():
    content = bytes(range(256))
    coded = base64.encodebytes(content)
    guest, channel = talk(
        b"noise\n@ready 6.12\r\n@walk now home=1000\n@file a/b c\n" + coded + b"@end\n@bye\nrest\n"
    )
    with guest:
        assert list(channel.messages()) == [
            GuestQuery("ready", ("6.12",)),
            GuestQuery("walk", ("now", "home=1000")),
            GuestFile("a/b c", content),
        ]


def test_an_answer_is_a_line():
    guest, channel = talk(b"")
    with guest:
        channel.answer("ok")
        assert guest.recv(10) == b"ok\n"


def test_the_end_of_the_machine_is_noticed():
    guest, channel = talk(b"@ready 1\n@fi")
    guest.close()
    with pytest.raises(ChannelClosed):
        list(channel.messages())


def test_a_silent_guest_times_out():
    guest, channel = talk(b"@ready 1\n", deadline_seconds=0.1)
    with guest, pytest.raises(TimeoutError):
        list(channel.messages())


def test_a_damaged_file_is_no_file():
    guest, channel = talk(b"@file x\nabc\n@end\n@bye\n")
    with guest, pytest.raises(ChannelClosed, match="damaged"):
        list(channel.messages())


def test_connect_waits_for_the_socket_and_gives_up_when_its_owner_ends(tmp_path):
    path = tmp_path / "channel"
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)

    def late():
        time.sleep(0.1)
        server.bind(str(path))
        server.listen()

    thread = threading.Thread(target=late)
    thread.start()
    connect_channel(path, time.monotonic() + 5, lambda: True).close()
    thread.join()
    server.close()
    with pytest.raises(ChannelClosed):
        connect_channel(tmp_path / "nothing", time.monotonic() + 5, lambda: False)
    with pytest.raises(TimeoutError):
        connect_channel(tmp_path / "nothing", time.monotonic() + 0.1, lambda: True)
