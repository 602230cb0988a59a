"""Loading platforms: what a good file gives, and how each kind of bad file is refused."""

from __future__ import annotations

import pytest

from tessera.core import platforms
from tessera.core.errors import TesseraError
from tessera.core.platforms import all_keys

#: What haswell-sim sets of the component that predicts its branches.
OWN = [
    f"branch_predictor.tage.{key}"
    for key in (
        "tables", "log2_entries", "tag_bits", "shortest_history", "longest_history", "log2_base_entries",
    )
]  # fmt: skip


def at(tree, key):
    for part in key.split("."):
        tree = tree[part]
    return tree


def put(key, **changes):
    return lambda tree: at(tree, key).update(changes)


def drop(key):
    def change(tree):
        *parents, last = key.split(".")
        at(tree, ".".join(parents))[last]
        del (at(tree, ".".join(parents)) if parents else tree)[last]

    return change


def own(key, value):
    def change(tree):
        *parents, last = key.split(".")
        for part in parents:
            tree = tree.setdefault(part, {})
        tree[last] = {"value": value, "source": "assumed: a test"}

    return change


#: name -> (change of a valid tree, words of the refusal)
BROKEN = {
    "no name": (lambda t: t.pop("name"), ["p.yaml: ", " text: name\n"]),
    "description is a list": (lambda t: t.update(description=["d"]), [" text: description\n"]),
    "name is a path": (lambda t: t.update(name="../x"), ["key name", "not a plain name"]),
    "bare number": (lambda t: t["tlb"].update(stlb=512), ["key tlb.stlb", "512 is not {value, source}"]),
    "empty group": (lambda t: t["tlb"].update(stlb={}), ["key tlb.stlb", "empty"]),
    "no source": (
        lambda t: t["walker"]["count"].pop("source"),
        ["key walker.count", "needs value and source"],
    ),
    "extra word": (put("walker.count", unit="walkers"), ["needs value and source, has value, source, unit"]),
    "empty source": (put("walker.count", source=" "), ["source is empty"]),
    "source is a number": (put("walker.count", source=4), ["source is empty"]),
    "assumed without a reason": (put("walker.count", source="assumed"), ["'assumed' gives no reason"]),
    "value is a list": (put("walker.count", value=[1]), ["[1] is neither a whole number nor a name"]),
    "value is a mapping": (put("walker.count", value={"a": 1}), ["neither a whole number nor a name"]),
    "value is nothing": (put("walker.count", value=None), ["None is neither"]),
    "NaN": (
        put("memory.load_cycles", value=float("nan")),
        ["memory/load_cycles/value: '.nan' is not a number"],
    ),
    "infinite": (
        put("memory.load_cycles", value=float("inf")),
        ["memory/load_cycles/value: '.inf' is not a number"],
    ),
    "fraction": (put("memory.load_cycles", value=1.5), ["1.5 is neither a whole number"]),
    "boolean": (
        put("walker.uses_mshrs", value=True),
        ["walker.uses_mshrs", "True is neither a whole number"],
    ),
    "negative": (
        put("memory.load_cycles", value=-1),
        ["-1 is not a whole number of cycles from 1 to 100000"],
    ),
    "one too many": (put("walker.count", value=9), ["9 is not a whole number of walkers from 0 to 8"]),
    "text for a number": (put("walker.count", value="1"), ["'1' is text, not a whole number of walkers"]),
    "number for a name": (put("tlb.l1d.replacement", value=3), ["3 is not a name"]),
    "line break in a name": (put("tlb.l1d.replacement", value="lru\ncore.mshrs = 1"), ["is not a name"]),
    "unknown key": (
        lambda t: t["tlb"].update(stbl={"entries": {"value": 1, "source": "s"}}),
        [
            "key tlb.stbl.entries",
            "no such key",
            "did you mean tlb.stlb.entries",
            "valid keys: core.frequency_hz",
        ],
    ),
    "fraction in a component's section": (own("design.anchor.pages", 1.5), ["1.5 is neither a whole number"]),
    "negative in a component's section": (
        own("design.anchor.pages", -1),
        ["key design.anchor.pages", "-1 is not"],
    ),
    "section without a component": (
        own("design.pages", 1),
        ["key design.pages", "no such key", "a section of allocator, branch_predictor, design"],
    ),
    "section of no kind": (own("desing.anchor.pages", 1), ["key desing.anchor.pages", "no such key"]),
    "missing keys": (drop("dram.banks"), ["keys missing: dram.banks", "tessera-sim keys"]),
    "missing group": (lambda t: t.pop("dram"), ["keys missing: dram.channels, dram.banks, dram.row_bytes"]),
}


@pytest.mark.parametrize("case", BROKEN)
def test_refuses(case, tree, load_tree):
    change, words = BROKEN[case]
    change(tree)
    with pytest.raises(TesseraError) as error:
        load_tree(tree)
    for word in ["p.yaml", *words]:
        assert word in str(error.value)
    assert error.value.remedy


@pytest.mark.parametrize("key", ["walker.count", "core.mshrs", "tlb.stlb.ways"])
def test_bounds_are_inclusive(key, tree, load_tree):
    row = all_keys()[key]
    for value, accepted in [
        (row.least, True),
        (row.most, True),
        (row.least - 1, False),
        (row.most + 1, False),
    ]:
        at(tree, key)["value"] = value
        if accepted:
            assert load_tree(tree).values[key].value == value
        else:
            with pytest.raises(TesseraError, match=f"from {row.least} to {row.most}"):
                load_tree(tree)


def test_flattens_by_dots_and_tells_assumed_from_sourced(tree, load_tree):
    at(tree, "tlb.stlb.entries").update(value=512, source="T4")
    at(tree, "tlb.stlb.ways").update(value=4, source="assumed: x")
    found = load_tree(tree)
    lines = found.flat().splitlines()
    assert "tlb.stlb.entries = 512" in lines and "tlb.l1d.replacement = lru" in lines
    assert len(lines) == len(all_keys()) + len(OWN) and lines == sorted(lines)
    assert not found.values["tlb.stlb.entries"].assumed and found.values["tlb.stlb.ways"].assumed


def test_what_is_left_out_has_its_default_with_its_source(tree, load_tree):
    del tree["pwc"]["kind"]
    assert "overlap" not in tree["core"] and "mmu" not in tree  # haswell-sim leaves these to the table
    values = load_tree(tree).values
    assert list(values) == [*all_keys(), *OWN]
    for key, value in {
        "core.overlap": 1,
        "mmu.design": "conventional",
        "pwc.kind": "paging-structure",
    }.items():
        assert (values[key].value, values[key].defaulted) == (value, True)
        assert values[key].source == all_keys()[key].source
    assert values["pwc.kind"].assumed and not values["core.overlap"].assumed
    assert not values["walker.count"].defaulted
    own("core.overlap", 1)(tree)
    assert not load_tree(tree).values["core.overlap"].defaulted


def test_components_own_keys_wait_for_the_simulator(tree, load_tree):
    largest = 10**19 - 1  # what a platform file can hold
    own("design.anchor.distance_pages", largest)(tree)
    found = load_tree(tree)
    assert list(found.values)[-1] == "design.anchor.distance_pages"
    assert f"design.anchor.distance_pages = {largest}\n" in found.flat()
    own("design.anchor.distance_pages", largest + 1)(tree)
    with pytest.raises(TesseraError, match=f"'{largest + 1}'"):
        load_tree(tree)


def test_unknown_platform_lists_the_known():
    with pytest.raises(TesseraError, match="haswell-sim"):
        platforms.load_platform("pentium")
