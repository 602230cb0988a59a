"""Protocol `all`: fitted to and tested on every layout (MICRO'20 section VI-C, the first method)."""

from __future__ import annotations

from tessera.fit.models.protocols.setting import Data, Protocol, Setting


def settings(data: Data) -> list[Setting]:
    return [Setting("", [(data.rows, data.rows)])]


ALL = Protocol("all", "fitted to and tested on all layouts", settings)
