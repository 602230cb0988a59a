"""The server of tests/reference with one file."""

from collections.abc import Iterator
from contextlib import contextmanager

from tests.reference import server

FILE = "graph.bin"


def of_file(body: bytes, name: str = FILE, **how) -> server.Behaviour:
    return server.Behaviour({name: body}, **how)


@contextmanager
def serving(behaviour: server.Behaviour) -> Iterator[str]:
    """Yields the file's address."""
    with server.serving(behaviour) as port:
        yield f"http://127.0.0.1:{port}/files/{next(iter(behaviour.files))}"
