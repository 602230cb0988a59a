"""sqlite3: a database with indices on disk, one in memory, memory-mapped files; integrity and a query."""

from __future__ import annotations

from tessera.core.units import MB
from tessera.lab.allocator_proof.programs.driver import Box, Need, ProvedProgram, expect_equal

#: 7919 and 104729 are primes: the rows come in an order that the index has to sort.
SCRIPT = """
PRAGMA mmap_size=67108864;
PRAGMA cache_size=-32000;
CREATE TABLE item(id INTEGER PRIMARY KEY, shelf INTEGER, name TEXT, body BLOB);
BEGIN;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60000)
INSERT INTO item SELECT i, (i * 7919) % 104729, printf('item-%08d', i), zeroblob(i % 200) FROM n;
COMMIT;
CREATE INDEX by_shelf ON item(shelf, name);
UPDATE item SET name = name || '-moved' WHERE shelf % 3 = 0;
DELETE FROM item WHERE id % 7 = 0;
VACUUM;
PRAGMA integrity_check;
SELECT count(*), sum(shelf), sum(length(name)), sum(length(body)) FROM item;
SELECT name FROM item ORDER BY shelf DESC, name LIMIT 5;
ATTACH ':memory:' AS m;
CREATE TABLE m.word AS SELECT substr(name, 6, 8) AS w, count(*) AS c FROM item GROUP BY shelf % 1000;
SELECT count(*), max(c), sum(c) FROM m.word;
SELECT sum(a.shelf * 1.0 / (b.c + 1)) FROM item a JOIN m.word b ON substr(a.name, 6, 8) = b.w;
"""


def drive(box: Box) -> str:
    out = box.run(["sqlite3", "items.db"], text=SCRIPT).out
    expect_equal("PRAGMA integrity_check", out.splitlines()[1], "ok")
    again = box.run(["sqlite3", "items.db", "PRAGMA integrity_check; SELECT count(*) FROM item;"]).out
    expect_equal("the file, read again", again, f"ok\n{60000 - 60000 // 7}\n")
    return out


PROGRAM = ProvedProgram(
    name="sqlite3",
    what="inserts, index, update, VACUUM on a mapped file and in memory; integrity_check and queries",
    drive=drive,
    needs=(Need("sqlite3", "sqlite3"),),
    heap_bytes=64 * MB,
    anon_bytes=64 * MB,
)
