"""Every model of every workload and platform, fitted and cross-validated."""

MODEL_TABLES = ("errors", "cv", "rsquared", "predictions", "coefficients")


rule fit:
    input: f"{RESULTS}/cells/{{workload}}/{{platform}}.csv",
    output: f"{RESULTS}/models/{{workload}}/{{platform}}/errors.csv",
    log: f"{RESULTS}/logs/fit-{{workload}}-{{platform}}.log",
    benchmark: f"{RESULTS}/benchmarks/fit-{{workload}}-{{platform}}.tsv"
    params: seed=config["seed"],
    message: "Fitting models of {wildcards.workload} on {wildcards.platform}"
    shell: "tessera pipeline fit --cells {input} --seed {params.seed} --out {output} 2> >(tee {log} >&2)"


rule all_models:
    input:
        expand(
            f"{RESULTS}/models/{{workload}}/{{platform}}/errors.csv", workload=WORKLOADS, platform=PLATFORMS
        ),
    output: expand(f"{RESULTS}/models/{{table}}.csv", table=MODEL_TABLES),
    log: f"{RESULTS}/logs/all-models.log",
    params:
        out=f"{RESULTS}/models",
        folders=lambda w, input: sorted({str(Path(p).parent) for p in input}),
    message: "Collecting all models"
    shell: "tessera models collect --out {params.out} {params.folders} > {log} 2>&1"
