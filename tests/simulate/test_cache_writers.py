"""The cache of cells with many writers, as on the nodes of a cluster that share a folder.

Two "nodes" of four processes each write the same keys at the same time, with contents of their own, and read
all keys meanwhile. Nothing locks: a cell is renamed to its name when it is complete.
"""

from __future__ import annotations

import json
import subprocess
import sys

from tessera.core.files import repo_root

NODES, PROCESSES, KEYS, ROUNDS = 2, 4, 20, 4
#: Contents of different lengths, so that a mixture of two writers is no valid cell of either.
WRITER = """
import sys
from pathlib import Path
from tessera.simulate.runner import CellCache, content_key

cache, me, keys, rounds = CellCache(Path(sys.argv[1])), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
torn = seen = 0
for turn in range(rounds):
    for key in range(keys):
        length = 1000 * (1 + (turn + int(me)) % 7)
        cache.put(content_key(str(key)), {"writer": me, "length": length, "text": me * length})
        for other in range(keys):
            cell = cache.get(content_key(str(other)))
            if cell is None:
                continue
            seen += 1
            torn += cell["text"] != cell["writer"] * cell["length"]
print(torn, seen)
"""


def test_readers_see_whole_cells_only_and_nothing_is_left_over(tmp_path):
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path), str(number), str(KEYS), str(ROUNDS)],
            env={"PYTHONPATH": str(repo_root() / "src"), "PATH": "/usr/bin:/bin"},
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(1, NODES * PROCESSES + 1)
    ]
    counts = [tuple(map(int, writer.communicate(timeout=120)[0].split())) for writer in writers]
    assert all(writer.returncode == 0 for writer in writers)
    assert [torn for torn, _ in counts] == [0] * len(writers)
    assert sum(seen for _, seen in counts) > KEYS * ROUNDS * KEYS  # they did read while others wrote
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) == KEYS and not [path for path in files if path.suffix != ".json"]
    for path in files:  # the last writer won, with all of its bytes
        cell = json.loads(path.read_text())
        assert cell["text"] == cell["writer"] * cell["length"]
