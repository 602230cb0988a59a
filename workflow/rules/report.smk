"""Notebook, provenance, and the site with its claims and figures."""

EXPLORE = config["explore"]


rule notebook:
    input: rules.all_models.output, f"{RESULTS}/cells.csv", "notebooks/explore_fits.ipynb",
    output: f"{RESULTS}/notebooks/explore_fits.html",
    log: f"{RESULTS}/logs/notebook.log",
    benchmark: f"{RESULTS}/benchmarks/notebook.tsv"
    params: workload=EXPLORE["workload"], platform=EXPLORE["platform"], results=RESULTS,
    message: "Executing the notebook on {params.workload}, {params.platform}"
    shell:
        "tessera report notebook --results {params.results} --workload {params.workload}"
        " --platform {params.platform} --out {output} > {log} 2>&1"


rule report:
    input:
        rules.all_models.output,
        rules.notebook.output,
        study_outputs(),
        VALIDATION_TABLES,
        f"{RESULTS}/host/allocator.csv",
        f"{RESULTS}/cells.csv",
        "config/claims.yaml",
        sorted(str(p) for p in Path("reference-results").glob("*.csv")),
        sorted(str(p) for folder in ("report", "src/tessera/report", "src/tessera/figures", "src/tessera/claims")
               for p in Path(folder).rglob("*") if p.is_file() and "__pycache__" not in p.parts),
    output: f"{RESULTS}/report/index.html", f"{RESULTS}/claims.csv",
    log: f"{RESULTS}/logs/report.log",
    benchmark: f"{RESULTS}/benchmarks/report.tsv"
    params: results=RESULTS,
    message: "Rendering the report"
    shell: "tessera report render --results {params.results} > {log} 2>&1"
