"""Studies of the simulator (docs/studies.md): what sampling costs, what a mechanism does, what assumed values decide.

Each simulates a window in the middle of a recorded trace. `snakemake studies` makes them alone."""

STUDIES = config.get("studies", {})


def window(workload, study):
    """info.json of the window that a study simulates of a workload."""
    return f"{RESULTS}/studies/windows/{workload}-{STUDIES[study]['window_accesses']}/info.json"


def layout_options(study):
    """The layouts that a study names; all but 1gb if it names none."""
    names = ",".join(STUDIES[study].get("layouts", []))
    return f"--layouts {names}" if names else ""


def study_outputs():
    """Everything that the configuration asks for."""
    found = []
    if "sampling" in STUDIES:
        found += expand(f"{RESULTS}/studies/sampling/{{w}}/errors.csv", w=STUDIES["sampling"]["workloads"])
    if "ablations" in STUDIES:
        asked = STUDIES["ablations"]
        found += expand(f"{RESULTS}/studies/ablations/{{w}}/{{p}}/shapes.csv", w=asked["workloads"], p=asked["platforms"])
    if "sweep" in STUDIES:
        asked = STUDIES["sweep"]
        found.append(f"{RESULTS}/studies/sweep/{asked['workload']}/{asked['platform']}/sweep.csv")
    return found


rule study_window:
    input:
        component_stamps("tracer"),
        info=f"{RESULTS}/traces/{{workload}}/info.json",
    output: f"{RESULTS}/studies/windows/{{workload}}-{{accesses}}/info.json",
    log: f"{RESULTS}/logs/window-{{workload}}-{{accesses}}.log",
    wildcard_constraints: accesses="[0-9]+",
    message: "Cutting a window of {wildcards.accesses} accesses out of {wildcards.workload}"
    shell: "tessera study window --info {input.info} --accesses {wildcards.accesses} --out {output} > {log} 2>&1"


rule study_sampling:
    input:
        component_stamps("simulator"),
        info=lambda w: window(w.workload, "sampling"),
        manifest=lambda w: f"{RESULTS}/layouts/{w.workload}/{STUDIES['sampling']['platform']}/manifest.csv",
        platform=lambda w: platform_file(STUDIES["sampling"]["platform"]),
    output: f"{RESULTS}/studies/sampling/{{workload}}/errors.csv",
    log: f"{RESULTS}/logs/study-sampling-{{workload}}.log",
    benchmark: f"{RESULTS}/benchmarks/study-sampling-{{workload}}.tsv"
    params:
        layouts=layout_options("sampling") if "sampling" in STUDIES else "",
        plans=" ".join(f"--plan {plan}" for plan in STUDIES.get("sampling", {}).get("plans", [])),
        seed=config["seed"], cache=f"{RESULTS}/cache",
    priority: 15
    resources: mem_mb=2000
    message: "Sampling study of {wildcards.workload}"
    shell:
        "tessera study sampling --info {input.info} --manifest {input.manifest} --platform {input.platform}"
        " {params.layouts} {params.plans} --seed {params.seed} --cache {params.cache} --out {output} 2> >(tee {log} >&2)"


rule study_ablations:
    input:
        component_stamps("simulator"),
        info=lambda w: window(w.workload, "ablations"),
        manifest=f"{RESULTS}/layouts/{{workload}}/{{platform}}/manifest.csv",
        platform=lambda w: platform_file(w.platform),
    output: f"{RESULTS}/studies/ablations/{{workload}}/{{platform}}/shapes.csv",
    log: f"{RESULTS}/logs/study-ablations-{{workload}}-{{platform}}.log",
    benchmark: f"{RESULTS}/benchmarks/study-ablations-{{workload}}-{{platform}}.tsv"
    params:
        layouts=layout_options("ablations") if "ablations" in STUDIES else "",
        sampling=STUDIES.get("ablations", {}).get("sampling", ""), cache=f"{RESULTS}/cache",
    priority: 15
    resources: mem_mb=2000
    message: "Ablations of {wildcards.workload} on {wildcards.platform}"
    shell:
        "tessera study ablations --info {input.info} --manifest {input.manifest} --platform {input.platform}"
        " {params.layouts} --sampling {params.sampling} --cache {params.cache} --out {output} 2> >(tee {log} >&2)"


rule study_sweep:
    input:
        component_stamps("simulator"),
        info=lambda w: window(w.workload, "sweep"),
        manifest=f"{RESULTS}/layouts/{{workload}}/{{platform}}/manifest.csv",
        platform=lambda w: platform_file(w.platform),
    output: f"{RESULTS}/studies/sweep/{{workload}}/{{platform}}/sweep.csv",
    log: f"{RESULTS}/logs/study-sweep-{{workload}}-{{platform}}.log",
    benchmark: f"{RESULTS}/benchmarks/study-sweep-{{workload}}-{{platform}}.tsv"
    params:
        layouts=layout_options("sweep") if "sweep" in STUDIES else "",
        only=" ".join(f"--only {key}" for key in STUDIES.get("sweep", {}).get("keys", [])),
        sampling=STUDIES.get("sweep", {}).get("sampling", ""), cache=f"{RESULTS}/cache",
    threads: workflow.cores
    priority: 15
    resources: mem_mb=2000
    message: "Varying what is assumed of {wildcards.platform}, on {wildcards.workload}"
    shell:
        "tessera study sweep --info {input.info} --manifest {input.manifest} --platform {input.platform}"
        " {params.layouts} {params.only} --sampling {params.sampling} --jobs {threads} --cache {params.cache}"
        " --out {output} 2> >(tee {log} >&2)"


rule studies:
    """The studies alone: snakemake --cores all studies."""
    input: study_outputs(),
