"""The client of a recorded server: stores items, reads them while the recording is on, stops the server."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.record.traces.switch import Switch
from tessera.record.workloads.loadgen.client import Client
from tessera.record.workloads.loadgen.wire_formats import Store
from tessera.record.workloads.run import Finished

STORE_BATCH = 500  #: items in flight while storing: requests and answers fit the sockets' buffers
FETCH_BATCH = 32  #: requests in flight while reading
END_SECONDS = 30
ZIPF_EXPONENT = 0.99  #: YCSB's


@dataclass
class Session:
    """Load of one run; an instance is the run's companion and, afterwards, its verifier.

    Attributes:
        store: the server's protocol.
        items: stored items.
        requests: reads in the measured phase (fewer when the recording's limit is reached before).
        distribution: ``uniform`` or ``zipf`` (exponent 0.99, ranks scattered over the items).
        farewell: request that ends the server; empty for SIGTERM.
    """

    store: Store
    port: int
    items: int
    requests: int
    distribution: str
    switch: Switch
    seed: int = 1
    farewell: bytes = b""
    done: dict = field(default_factory=dict)

    def __call__(self, program: subprocess.Popen) -> None:
        """The whole session; see :class:`tessera.record.traces.companion.Companion`."""
        self.done = {}
        client = Client(self.store, self.port, program)
        try:
            began = time.monotonic()
            for first in range(0, self.items, STORE_BATCH):
                batch = range(first, min(first + STORE_BATCH, self.items))
                client.exchange(self.store.store(batch), "store items")
            stored = time.monotonic()
            wake = self._wake(client)
            self.switch.on(wake)
            fetched = self._fetch(client)
            ended = time.monotonic()
            if not self.switch.limit_reached:
                self.switch.off(wake)
            self._end(client, program)
        finally:
            client.close()
        self.done = {
            "workload": self.store.name,
            "items": self.items,
            "requests": fetched,
            "distribution": self.distribution,
            "seed": self.seed,
            "store_seconds": round(stored - began, 3),
            "fetch_seconds": round(ended - stored, 3),
            "verified": True,
        }

    def result(self, finished: Finished) -> dict:
        """The result of the session, in which every answer of the measured phase was compared."""
        if not self.done:
            raise TesseraError(
                f"load of {self.store.name}",
                "the load did not finish",
                "run the workload alone: tessera workload run",
                exit_code=EXIT_FAILED,
                code="load-unfinished",
            )
        return self.done

    def _fetch(self, client: Client) -> int:
        fetched = 0
        for batch in self._batches():
            client.exchange(self.store.fetch(batch), "read items")
            fetched += len(batch)
            if self.switch.limit_reached:
                break
        return fetched

    def _batches(self) -> Iterator[list[int]]:
        random = np.random.default_rng(self.seed)
        for left in range(self.requests, 0, -FETCH_BATCH):
            yield self._chosen(random, min(left, FETCH_BATCH)).tolist()

    def _chosen(self, random: np.random.Generator, count: int) -> np.ndarray:
        if self.distribution == "uniform":
            return random.integers(self.items, size=count)
        # Inverse of the continuous approximation of the sum of 1/rank^a, a < 1.
        power = 1 - ZIPF_EXPONENT
        share = random.random(count)
        rank = (1 + share * (float(self.items) ** power - 1)) ** (1 / power)
        return (rank.astype(np.int64) * 0x9E3779B1) % self.items

    def _wake(self, client: Client):
        """Wake the main thread: redis answers requests in it, memcached accepts connections in it."""

        def wake() -> None:
            request, answer = self.store.fetch([0])
            client.exchange((request, answer), "read an item")
            client.touch()

        return wake

    def _end(self, client: Client, program: subprocess.Popen) -> None:
        if self.farewell:
            client.send(self.farewell)
        else:
            program.terminate()
        try:
            program.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            raise TesseraError(
                f"stop {self.store.name}",
                f"the server still runs after {END_SECONDS} s, so Tessera kills it",
                "run the workload alone: tessera workload run",
                exit_code=EXIT_FAILED,
            ) from None
