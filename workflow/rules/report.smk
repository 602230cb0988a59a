"""Notebooks, provenance, and the site with its claims and figures."""

EXPLORE = config["explore"]
NOTEBOOKS = sorted(path.stem for path in Path("notebooks").glob("*.ipynb"))


rule notebook:
    input:
        rules.all_models.output,
        f"{RESULTS}/cells.csv",
        "notebooks/{notebook}.ipynb",
        sorted(str(p) for folder in ("explore", "notebooks") for p in Path("src/tessera/show", folder).glob("*.py")),
    output: f"{RESULTS}/notebooks/{{notebook}}.html",
    log: f"{RESULTS}/logs/notebook-{{notebook}}.log",
    benchmark: f"{RESULTS}/benchmarks/notebook-{{notebook}}.tsv"
    params: workload=EXPLORE["workload"], platform=EXPLORE["platform"], results=RESULTS,
    message: "Executing notebook {wildcards.notebook}"
    shell:
        "tessera notebooks run --results {params.results} --only {wildcards.notebook}"
        " --workload {params.workload} --platform {params.platform} > {log} 2>&1"


rule report:
    input:
        rules.all_models.output,
        rules.reference.output,
        expand(rules.notebook.output, notebook=NOTEBOOKS),
        study_outputs(),
        VALIDATION_TABLES,
        f"{RESULTS}/host/allocator.csv",
        kernel_parts_here(),
        f"{RESULTS}/cells.csv",
        "config/claims.yaml",
        sorted(str(p) for p in Path("reference-results").glob("*.csv")),
        sorted(str(p) for folder in ("report", "src/tessera/show/report", "src/tessera/show/figures", "src/tessera/judge/claims")
               for p in Path(folder).rglob("*") if p.is_file() and "__pycache__" not in p.parts),
    output: f"{RESULTS}/report/index.html", f"{RESULTS}/claims.csv",
    log: f"{RESULTS}/logs/report.log",
    benchmark: f"{RESULTS}/benchmarks/report.tsv"
    params: results=RESULTS,
    message: "Rendering the report"
    shell: "tessera report render --results {params.results} > {log} 2>&1"
