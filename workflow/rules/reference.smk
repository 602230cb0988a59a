"""The papers' archived data beside what is printed and what we obtained; makes no connection."""


def archived_data():
    """What `tessera reference fetch` left here, and our own Table 5: none of them is needed."""
    fetched = sorted(str(p) for p in Path("datasets/cache/records").glob("*/reference/**/*.csv") if p.is_file())
    return fetched + kernel_parts_here(["table5"])


rule reference:
    input:
        archived_data(),
        "reference-results/records.yaml",
        sorted(str(p) for p in Path("reference-results").glob("mitosis_*.csv")),
    output:
        comparison=f"{RESULTS}/reference/comparison.csv",
        tables=[f"{RESULTS}/reference/{name}.csv" for name in ("archived", "quarantine", "rules", "status")],
    log: f"{RESULTS}/logs/reference.log",
    benchmark: f"{RESULTS}/benchmarks/reference.tsv"
    params: results=RESULTS,
    message: "Comparing the papers' archived data with what is printed"
    shell: "tessera reference compare --results {params.results} > {log} 2>&1"
