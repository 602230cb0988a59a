"""xml-transform: the document is what it claims, the report what XSLT says; a wrong report is refused."""

from __future__ import annotations

import shutil
import xml.etree.ElementTree as ET
from collections import Counter
from decimal import Decimal

import pytest

from tessera.core.errors import TesseraError
from tessera.record import workloads
from tessera.record.debian_programs import input_counts
from tessera.record.debian_programs.xalan import Auction, auction_report, mix64, scaled_counts
from tessera.record.workloads.definition import Size, Workload
from tessera.record.workloads.execution import execute
from tessera.record.workloads.kinds import prepare
from tessera.record.workloads.program_run import Finished

SMALL = Auction(people=30, items=40, bids=200, categories=5, seed=7)  # no category has more than 20 items


def row(*args: str) -> Workload:
    return Workload("x", "xalan", "", "", {"s": Size("s", args, 1, 1, 1)}, kind="debian")


def parsed(auction: Auction) -> ET.Element:
    return ET.fromstring("".join(auction.document()))


def test_splitmix64_has_its_published_sequence():
    # First outputs of SplitMix64 from state 1234567 (the reference of several libraries' tests).
    assert [mix64(1234567, k) for k in range(3)] == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
    ]


def test_the_document_has_the_tables_it_was_asked_for():
    site = parsed(SMALL)
    assert [len(site.find(table)) for table in ("people", "items", "bids")] == [30, 40, 200]
    people = {person.get("id") for person in site.find("people")}
    items = {item.get("id") for item in site.find("items")}
    assert len(people) == 30 and len(items) == 40
    assert {item.get("seller") for item in site.find("items")} <= people
    assert {bid.get("item") for bid in site.find("bids")} <= items
    assert {bid.get("person") for bid in site.find("bids")} <= people


def test_the_same_seed_gives_the_same_document_and_another_another():
    text = "".join(SMALL.document())
    assert text == "".join(Auction(30, 40, 200, 5, 7).document())
    assert text != "".join(Auction(30, 40, 200, 5, 8).document())


def test_the_report_is_what_the_document_says():
    """From the XML text alone, by its own loops."""
    site, lines = parsed(SMALL), list(auction_report(SMALL))
    cities = {person.get("id"): person.findtext("city") for person in site.find("people")}
    items = {item.get("id"): item for item in site.find("items")}
    for bid, line in zip(site.find("bids"), lines, strict=False):
        item = items[bid.get("item")]
        assert line.split() == [cities[bid.get("person")], item.get("category"), cities[item.get("seller")]]
    lines = lines[200:]  # one a bid
    names = {person.get("id"): person.findtext("name") for person in site.find("people")}
    per_category = Counter(item.get("category") for item in site.find("items"))
    heads = [line.split() for line in lines if line.startswith("category ")]
    assert [(head[1], int(head[3])) for head in heads] == sorted(
        per_category.items(), key=lambda c: int(c[0])
    )
    bids = [(b.get("item"), int(b.text), names[b.get("person")]) for b in site.find("bids")]
    for item in site.find("items"):
        (line,) = [line for line in lines if line.startswith(f"{item.get('id')} ")]
        assert line.startswith(f"{item.get('id')} {item.findtext('price')} {names[item.get('seller')]}, ")
        offers = sorted((bid for bid in bids if bid[0] == item.get("id")), key=lambda bid: -bid[1])
        best = "".join(f" {amount} of {name}" for _, amount, name in offers[:3])
        assert line.split("; ")[1].rstrip("\n") == f"{len(offers)}{best}"
    prices = [int(line.split()[1]) for line in lines if not line.startswith("category ")]
    starts = [i - n for n, i in enumerate(i for i, line in enumerate(lines) if line.startswith("category "))]
    for begin, end in zip(starts, [*starts[1:], len(prices)], strict=True):
        assert prices[begin:end] == sorted(prices[begin:end], reverse=True)


def test_only_the_dearest_items_of_a_category_are_listed():
    lines = list(auction_report(Auction(people=5, items=100, bids=3, categories=1, seed=1)))[3:]
    assert lines[0].startswith("category 0 items 100 ") and len(lines) == 1 + 20
    site = parsed(Auction(people=5, items=100, bids=3, categories=1, seed=1))
    prices = sorted((int(item.findtext("price")) for item in site.find("items")), reverse=True)
    assert [int(line.split()[1]) for line in lines[1:]] == prices[:20]


@pytest.fixture
def written(tmp_path):
    """A run that wrote the right report, without xalan."""
    run = prepare(row("--items", "50"), "s", tmp_path)
    auction = Auction(people=1000, items=50, bids=5000, categories=20, seed=1)
    (tmp_path / "report.txt").write_text("".join(auction_report(auction)))
    return run, Finished(0, "", "", tmp_path)


def test_the_right_report_is_accepted(written):
    run, done = written
    result = run.verify(done)
    assert result["verified"] is True and result["lines"] == 5070


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda text: text.replace("\n", " \n", 1), "line 1 of report.txt is"),
        (lambda text: text[: text.rindex("\n", 0, -1) + 1], "has 5069 lines, expected 5070"),
        (lambda text: text + "more\n", "has 5071 lines, expected 5070"),
    ],
)
def test_a_wrong_report_is_refused(written, damage, said):
    run, done = written
    path = done.folder / "report.txt"
    path.write_text(damage(path.read_text()))
    with pytest.raises(TesseraError, match=said):
        run.verify(done)


def test_a_missing_report_is_refused(tmp_path):
    run = prepare(row(), "s", tmp_path)
    with pytest.raises(TesseraError, match=r"xalan: .* report\.txt: .*memory"):
        run.verify(Finished(0, "", "out of memory", tmp_path))


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("--item", "3"), "(?s)'--item'.*: --bids, --categories, --items"),
        (("items", "3"), "(?s)'items'.*: --bids"),
        (("--items", "-3"), "--items -3: "),
        (("--items",), ": --items: .* --items "),
        (("--items", "3", "--items", "4"), ": --items: .*twice"),
        (("--items", "0"), "--items 0: "),
        (("--factor", "0"), "(?s)--factor 0: .*9.5"),
        (("--factor", "inf"), "(?s)--factor inf: .*9.5"),
        (("--factor", "1", "--items", "3"), "--factor and --items: "),
        (("--factor", "0.0001"), "--categories 0: "),
        (("--factor", "1", "--factor", "2"), "(?s)--factor: .*twice"),
        (("--begin", "middle"), "(?s)'middle'.*: output, tree"),
        (("--begin", "tree", "--skip", "3"), "--begin and --skip: "),
        (("--begin",), "(?s)--begin.*: .*has no value"),
    ],
    ids=[
        "args0-use one of: --bids, --categories, --items",
        "args1-use one of",
        "args2-not a count",
        "args3-has no value",
        "args4-given twice",
        "args5-may not be empty",
        "factor-zero",
        "factor-infinite",
        "factor-and-table",
        "factor-without-category",
        "factor-twice",
        "begin-unknown",
        "begin-and-skip",
        "begin-without-value",
    ],
)
def test_wrong_options_are_named(tmp_path, args, said):
    with pytest.raises(TesseraError, match=said):
        prepare(row(*args), "s", tmp_path)


def test_options_have_their_defaults():
    assert input_counts("w", ("--b", "5"), {"a": 1, "b": 2}) == {"a": 1, "b": 5}


def test_the_recorded_part_begins_after_parsing(tmp_path):
    assert prepare(row("--skip", "25"), "s", tmp_path).roi == "skip:25"
    assert prepare(row("--begin", "tree"), "s", tmp_path).roi == "closed:auction.xml"
    assert prepare(row("--begin", "output"), "s", tmp_path).roi == "written:report.txt"
    found = workloads.load_workload("xml-transform")
    assert all({"--skip", "--begin"} & set(size.args) for size in found.sizes.values())


def test_a_factor_keeps_the_ratios_of_xmark(tmp_path):
    # Schmidt et al. (VLDB 2002): 12,000 open and 9,750 closed auctions at factor 1.
    assert scaled_counts(Decimal("8")) == {
        "people": 204_000,
        "items": 174_000,
        "bids": 174_000,
        "categories": 8_000,
    }
    assert scaled_counts(Decimal("0.0001")) == {"people": 3, "items": 2, "bids": 2, "categories": 0}
    run = prepare(row("--factor", "0.002", "--seed", "3"), "s", tmp_path)
    site = ET.parse(tmp_path / "auction.xml").getroot()
    assert [len(site.find(table)) for table in ("people", "items", "bids")] == [51, 44, 44]
    assert {int(item.get("category")) for item in site.find("items")} == {0, 1}
    assert run.roi == "auto"


def test_the_published_size_follows_the_rule_alone():
    published = workloads.load_workload("xml-transform").size("published")
    assert published.args == ("--factor", "8", "--begin", "tree")
    assert abs(published.footprint - 475e6) < 0.005 * 475e6


@pytest.mark.toolchain
def test_xalan_itself_agrees(tmp_path):
    from tessera.machine.container.image_inputs import workloads_tag
    from tessera.machine.container.images import image_exists

    if not image_exists(workloads_tag()):
        pytest.skip("./run tessera dev build --workloads-image")
    run = prepare(row("--people", "300", "--items", "200", "--bids", "1000"), "s", tmp_path)
    _, result = execute(run, tmp_path)
    assert result["verified"] is True and result["lines"] == 1220


def test_xalan_of_this_machine_agrees(tmp_path, monkeypatch):
    if shutil.which("xalan") is None:
        pytest.skip("apt install xalan")
    monkeypatch.setenv("TESSERA_ENGINE", "none")
    _, result = execute(prepare(row(), "s", tmp_path), tmp_path)
    assert result["lines"] == 5000 + 20 + 20 * 20
