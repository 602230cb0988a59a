"""Compare the papers' archived data with the printed numbers; uses no network."""

PRINTED = ["reference-results/records.yaml", *sorted(Path("reference-results").glob("mitosis_*.csv"))]


def fetched_data():
    """Files that `tessera dev reference fetch` downloaded; all are optional."""
    return sorted(p for p in Path("datasets/cache/records").glob("*/reference/**/*.csv") if p.is_file())


rule reference:
    localrule: True  # works on tables
    input: kernel_parts_here(["table5"]),  # our own, if it was made
    output: [TREE.reference(name) for name in REFERENCE_TABLES],
    log: TREE.log("reference"),
    benchmark: TREE.benchmark("reference")
    params: results=TREE.root, code=code("tessera.core.reference.comparison"), files=content_digest(*PRINTED, *fetched_data()),
    message: "Comparing the papers' archived data with the printed numbers"
    shell: "tessera dev reference compare --results {params.results:q} > {log} 2>&1"
