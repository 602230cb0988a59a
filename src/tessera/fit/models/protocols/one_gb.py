"""Protocol `1gb`: fitted to the layouts of 4KB and 2MB pages, tested on 1GB pages (section VII-D)."""

from __future__ import annotations

import numpy as np

from tessera.fit.models.protocols.setting import Data, Protocol, Setting
from tessera.layouts.names import ALL_1GB


def settings(data: Data) -> list[Setting]:
    if not data.test:
        return [Setting("", message="there is no layout 1gb", on_test_point=True)]
    return [Setting("", [(data.rows, np.arange(len(data.test)))], on_test_point=True)]


ONE_GB = Protocol(ALL_1GB, "fitted to all layouts, tested on 1GB pages only", settings)
