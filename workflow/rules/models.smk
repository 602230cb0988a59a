"""Every model of every workload and platform: fitted, judged under every protocol, tried on 1GB pages.

One job takes all workloads of a platform, since loading the libraries costs more than fitting a pair. A pair that
cannot be fitted gets empty tables and a reason beside them."""

# as in tessera.fit.models.tables, which is not imported here: every job reads this file, and it takes seconds
FIT_TABLES = ("errors", "cv", "rsquared", "predictions", "coefficients", "protocols", "learning_curve")
ADAPTIVE_TABLES = ("adaptive", "adaptive_curve")
ONE_GB_TABLES = ("one_gb", "budget")
MODEL_TABLES = (*FIT_TABLES, *ADAPTIVE_TABLES, *ONE_GB_TABLES)


def of_platform(*files):
    """These files of every workload, with the platform as the wildcard."""
    folder = f"{RESULTS}/models/{{workload}}/{{{{platform}}}}"
    return [path for name in files for path in expand(f"{folder}/{name}", workload=WORKLOADS)]


def cells_of_platform(wildcards):
    return expand(f"{RESULTS}/cells/{{workload}}/{wildcards.platform}.csv", workload=WORKLOADS)


rule fit:
    input:
        cells=cells_of_platform,
        manifests=lambda w: expand(f"{RESULTS}/layouts/{{workload}}/{w.platform}/manifest.csv", workload=WORKLOADS),
    output: of_platform(*(f"{name}.csv" for name in FIT_TABLES), "intervals.json"),
    log: f"{RESULTS}/logs/fit-{{platform}}.log",
    benchmark: f"{RESULTS}/benchmarks/fit-{{platform}}.tsv"
    params: seed=config["seed"], layouts=f"{RESULTS}/layouts", out=f"{RESULTS}/models",
    message: "Fitting and judging all models on {wildcards.platform}"
    shell:
        "tessera pipeline fit --seed {params.seed} --layouts {params.layouts} --out {params.out}"
        " {input.cells} 2> >(tee {log} >&2)"


rule adaptive:
    input: cells_of_platform,
    output: of_platform(*(f"{name}.csv" for name in ADAPTIVE_TABLES)),
    log: f"{RESULTS}/logs/adaptive-{{platform}}.log",
    benchmark: f"{RESULTS}/benchmarks/adaptive-{{platform}}.tsv"
    params: seeds=config.get("adaptive_orders", 10), out=f"{RESULTS}/models",
    message: "Choosing layouts adaptively and at random on {wildcards.platform}"
    shell: "tessera pipeline adaptive --seeds {params.seeds} --out {params.out} {input} 2> >(tee {log} >&2)"


rule one_gb:
    input: cells=cells_of_platform, mosaics=f"{RESULTS}/validation/mosaics.csv",
    output: of_platform(*(f"{name}.csv" for name in ONE_GB_TABLES)),
    log: f"{RESULTS}/logs/one-gb-{{platform}}.log",
    benchmark: f"{RESULTS}/benchmarks/one-gb-{{platform}}.tsv"
    params: out=f"{RESULTS}/models",
    message: "Predicting 1GB pages on {wildcards.platform}"
    shell:
        "tessera pipeline one-gb --mosaics {input.mosaics} --out {params.out} {input.cells} 2> >(tee {log} >&2)"


rule all_models:
    input:
        expand(
            f"{RESULTS}/models/{{workload}}/{{platform}}/{{table}}.csv",
            workload=WORKLOADS, platform=PLATFORMS, table=MODEL_TABLES,
        ),
    output: expand(f"{RESULTS}/models/{{table}}.csv", table=MODEL_TABLES),
    log: f"{RESULTS}/logs/all-models.log",
    params:
        out=f"{RESULTS}/models",
        folders=lambda w, input: sorted({str(Path(p).parent) for p in input}),
    message: "Collecting all models"
    shell: "tessera models collect --out {params.out} {params.folders} > {log} 2>&1"
