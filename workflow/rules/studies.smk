"""Studies of the simulator (docs/studies.md): sampling, single mechanisms, assumed values, translation designs.

Each simulates a window in the middle of a recorded trace. `snakemake studies` runs only the studies."""

from tessera.judge.studies.variants import EXPLANATIONS, NO_MISPREDICTIONS

STUDIES = config.get("studies", {})
STUDY_CODE = code("tessera.judge.studies.steps")


def window(workload, study):
    """info.json of the window of a workload that a study simulates."""
    return TREE.window(workload, STUDIES[study]["window_accesses"])


def layout_options(study):
    """The layouts of a study; if it lists none, all but 1gb."""
    names = ",".join(STUDIES.get(study, {}).get("layouts", []))
    return f"--layouts {names}" if names else ""


def ablated():
    """(workload, platform) -> plan and names of its ablations (none: all); `mispredictions` is for the other pairs."""
    asked = STUDIES.get("ablations", {})
    every, found = asked.get("every_on", asked.get("platforms")), {}
    for p in asked.get("platforms", []):
        one = asked | {"only": [] if p in every else EXPLANATIONS}
        found |= {(w, p): one for w in asked["workloads"]}
    if "mispredictions" in asked:
        others = asked["mispredictions"] | {"only": [NO_MISPREDICTIONS]}
        found = {(w, p): others for w in config["workloads"] for p in config["platforms"]} | found
    return found


ABLATED = ablated()


def study_outputs():
    """Outputs of all studies in the configuration."""
    found = []
    if "sampling" in STUDIES:
        found += [TREE.sampling(w, "errors") for w in STUDIES["sampling"]["workloads"]]
    found += [TREE.ablations(w, p, "shapes") for w, p in ABLATED]
    if "sweep" in STUDIES:
        found.append(TREE.sweep(STUDIES["sweep"]["workload"], STUDIES["sweep"]["platform"]))
    if "designs" in STUDIES:
        found += [TREE.designs(w, STUDIES["designs"]["platform"], "cells") for w in STUDIES["designs"]["workloads"]]
    return found


def study_windows():
    """The windows that the studies simulate."""
    asked = {(w, name) for name, one in STUDIES.items() for w in one.get("workloads", [one.get("workload")])}
    found = {window(workload, study) for workload, study in asked}
    return sorted(found | {TREE.window(w, one["window_accesses"]) for (w, p), one in ABLATED.items()})


rule study_window:
    input:
        component_stamps("tracer"),
        info=TREE.info("{workload}"),
    output: TREE.window("{workload}", "{accesses}"),
    log: TREE.log("window-{workload}-{accesses}"),
    wildcard_constraints: accesses="[0-9]+",
    params: code=code("tessera.judge.studies.window"),
    message: "Cutting a window of {wildcards.accesses} accesses out of {wildcards.workload}"
    shell: "tessera study window --info {input.info} --accesses {wildcards.accesses} --out {output} > {log} 2>&1"


rule study_sampling:
    input:
        component_stamps("simulator"),
        info=lambda w: window(w.workload, "sampling"),
        manifest=lambda w: TREE.manifest(w.workload, STUDIES["sampling"]["platform"]),
        platform=lambda w: platform_file(STUDIES["sampling"]["platform"]),
    output: errors=TREE.sampling("{workload}", "errors"), intervals=TREE.sampling("{workload}", "intervals"),
    log: TREE.log("study-sampling-{workload}"),
    benchmark: TREE.benchmark("study-sampling-{workload}")
    params:
        layouts=layout_options("sampling"),
        plans=" ".join(f"--plan {plan}" for plan in STUDIES.get("sampling", {}).get("plans", [])),
        seed=config["seed"], cache=TREE.cache, code=STUDY_CODE,
        files=lambda w: platform_content(STUDIES["sampling"]["platform"]),
    priority: 15
    resources: mem_mb=2000
    message: "Comparing sampling methods on {wildcards.workload}"
    shell:
        "tessera study sampling --info {input.info} --manifest {input.manifest} --platform {input.platform}"
        " {params.layouts} {params.plans} --seed {params.seed} --cache {params.cache} --out {output.errors}"
        " 2> >(tee {log} >&2)"


rule study_ablations:
    input:
        component_stamps("simulator"),
        info=lambda w: TREE.window(w.workload, ABLATED[w.workload, w.platform]["window_accesses"]),
        manifest=TREE.manifest("{workload}", "{platform}"),
        platform=lambda w: platform_file(w.platform),
    output:
        shapes=TREE.ablations("{workload}", "{platform}", "shapes"),
        cells=TREE.ablations("{workload}", "{platform}", "cells"),
    log: TREE.log("study-ablations-{workload}-{platform}"),
    benchmark: TREE.benchmark("study-ablations-{workload}-{platform}")
    params:
        layouts=layout_options("ablations"), sampling=lambda w: ABLATED[w.workload, w.platform]["sampling"],
        only=lambda w: " ".join(f"--only {name}" for name in ABLATED[w.workload, w.platform]["only"]),
        cache=TREE.cache, code=STUDY_CODE,
        files=lambda w: platform_content(w.platform),
    priority: 15
    resources: mem_mb=2000
    message: "Switching off one mechanism at a time: {wildcards.workload} on {wildcards.platform}"
    shell:
        "tessera study ablations --info {input.info} --manifest {input.manifest} --platform {input.platform}"
        " {params.layouts} {params.only} --sampling {params.sampling} --cache {params.cache}"
        " --out {output.shapes} 2> >(tee {log} >&2)"


rule study_sweep:
    input:
        component_stamps("simulator"),
        info=lambda w: window(w.workload, "sweep"),
        manifest=TREE.manifest("{workload}", "{platform}"),
        platform=lambda w: platform_file(w.platform),
    output: TREE.sweep("{workload}", "{platform}"),
    log: TREE.log("study-sweep-{workload}-{platform}"),
    benchmark: TREE.benchmark("study-sweep-{workload}-{platform}")
    params:
        layouts=layout_options("sweep"), sampling=STUDIES.get("sweep", {}).get("sampling", ""),
        only=" ".join(f"--only {key}" for key in STUDIES.get("sweep", {}).get("keys", [])),
        cache=TREE.cache, code=STUDY_CODE,
        files=lambda w: platform_content(w.platform),
    threads: workflow.cores
    priority: 15
    resources: mem_mb=2000
    message: "Varying the assumed values of {wildcards.platform}, on {wildcards.workload}"
    shell:
        "tessera study sweep --info {input.info} --manifest {input.manifest} --platform {input.platform}"
        " {params.layouts} {params.only} --sampling {params.sampling} --jobs {threads} --cache {params.cache}"
        " --out {output} 2> >(tee {log} >&2)"


rule study_designs:
    input:
        component_stamps("simulator", "tracer"),
        info=lambda w: window(w.workload, "designs"),
        platform=lambda w: platform_file(w.platform),
    output:
        cells=TREE.designs("{workload}", "{platform}", "cells"),
        structures=TREE.designs("{workload}", "{platform}", "structures"),
        mappings=TREE.designs("{workload}", "{platform}", "mappings"),
    log: TREE.log("study-designs-{workload}-{platform}"),
    benchmark: TREE.benchmark("study-designs-{workload}-{platform}")
    params:
        only=lambda w: "".join(
            f" --{key} {','.join(STUDIES['designs'][key])}" for key in ("designs", "mappings") if key in STUDIES["designs"]
        ),
        seed=config["seed"], cache=TREE.cache, code=code("tessera.judge.studies.designs.step", "tessera.core.tables"),
        files=lambda w: platform_content(w.platform), out=lambda w, output: Path(output.cells).parent,
    threads: workflow.cores
    priority: 15
    resources: mem_mb=4000
    message: "Comparing translation designs on {wildcards.workload}"
    shell:
        "tessera study designs --trace {input.info} --platform {input.platform}{params.only} --seed {params.seed}"
        " --threads {threads} --cache {params.cache} --out {params.out} 2> >(tee {log} >&2)"


rule studies:
    """Only the studies: snakemake --cores all studies."""
    input: study_outputs(),
