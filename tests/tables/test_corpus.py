"""Every way in which people save a table is read, with the values that were saved."""

import pytest

from . import slow
from .readers import READERS, make_logs, same
from .ways import corpus

CORPUS = list(corpus())


def meant(kind, rows):
    """The values of the rows that were saved."""
    head, body = rows[0], [dict(zip(rows[0], cells, strict=True)) for cells in rows[1:]]
    if kind == "logs":
        return [(one["file"], one["layout"], int(one["repeat"])) for one in body]
    if kind == "runs":
        return [tuple(float(one[name]) for name in slow.RUNS) for one in body]
    columns = slow.SAMPLE.values() if kind == "samples" else head[1:]
    return {one[head[0]]: tuple(float(one[name]) for name in columns) for one in body}


def test_the_corpus_is_large():
    assert len(CORPUS) >= 200 and len({name for name, *_ in CORPUS}) == len(CORPUS)


@pytest.mark.parametrize("kind", dict.fromkeys(kind for _, kind, *_ in CORPUS))
def test_every_way_to_save_a_table_is_read(kind, tmp_path):
    make_logs(tmp_path)
    path, wrong = tmp_path / "table.csv", []
    for name, one, rows, data in CORPUS:
        if one != kind:
            continue
        path.write_bytes(data)
        wanted = meant(kind, rows)
        if "bottom to top" in name and kind in ("logs", "runs"):
            wanted = wanted[::-1]
        for reader, given in ((READERS[kind].fast, [path]), (READERS[kind].slow, [data, tmp_path])):
            try:
                found = reader(*given)
            except Exception as error:  # all that fail are listed
                wrong.append(f"{name}: {type(error).__name__} {error}")
                continue
            if not same(found, wanted):
                wrong.append(f"{name}: {found}")
    assert not wrong, "\n".join(wrong)
