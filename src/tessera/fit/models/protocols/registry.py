"""The protocols by name, in the order of the table: a new protocol is one file and one line here."""

from __future__ import annotations

from tessera.core.errors import unknown_name
from tessera.fit.models.protocols.all_samples import ALL
from tessera.fit.models.protocols.heuristics import PROTOCOL as HEURISTICS
from tessera.fit.models.protocols.hundred import HUNDRED
from tessera.fit.models.protocols.kfold import KFOLD
from tessera.fit.models.protocols.one_gb import ONE_GB
from tessera.fit.models.protocols.setting import Protocol


def registry(*protocols: Protocol) -> dict[str, Protocol]:
    """{name: protocol}; two of one name are a mistake in the program, so ValueError."""
    table: dict[str, Protocol] = {}
    for protocol in protocols:
        if protocol.name in table:
            raise ValueError(f"protocol name '{protocol.name}' registered twice")
        table[protocol.name] = protocol
    return table


PROTOCOLS = registry(ALL, KFOLD, HUNDRED, HEURISTICS, ONE_GB)


def select(names=()) -> list[Protocol]:
    """The named protocols in the order of the registry, all of them if none is named."""
    for name in names:
        if name not in PROTOCOLS:
            raise unknown_name("protocol", name, list(PROTOCOLS))
    return [protocol for name, protocol in PROTOCOLS.items() if name in names or not names]
