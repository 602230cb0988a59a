"""Studies of the simulator (docs/explain/studies.md, docs/explain/transfer.md): sampling, mechanisms, assumed values, new designs.

Each simulates a window in the middle of a recorded trace. `snakemake studies` runs only the studies."""

from tessera.lab.studies.variations import EXPLANATIONS, NO_MISPREDICTIONS
from tessera.core.results import transfer_tables
from tessera.lab import catalogue

STUDIES = config.get("studies", {})
TRANSFER = STUDIES.get("transfer", {})


def study_code(name, **options):
    """Digest of the code of a study (`tessera lab run`)."""
    return code(catalogue.STUDIES[name].module, "tessera.core.tables", **options)


def window(workload, study):
    """info.json of the window of a workload that a study simulates."""
    asked = STUDIES[study]
    return TREE.window(workload, asked.get("windows", {}).get(workload, asked["window_accesses"]))


def ablated():
    """(workload, platform) -> section of its ablations; `mispredictions` is for the pairs that have no others."""
    asked, found = dict(STUDIES.get("ablations", {})), {}
    others, every = asked.pop("mispredictions", None), asked.pop("every_on", asked.get("platforms"))
    for p in asked.get("platforms", []):
        one = asked | {"only": None if p in every else EXPLANATIONS}
        found |= {(w, p): one for w in asked["workloads"]}
    if others is not None:
        rest = asked | others | {"only": [NO_MISPREDICTIONS]}
        found = {(w, p): rest for w in config["workloads"] for p in config["platforms"]} | found
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
        found += [TREE.designs(w, STUDIES["designs"]["platform"], "cells") for w in DESIGNED]
    if "probes" in STUDIES:
        found.append(TREE.probes)
    if "placements" in STUDIES:
        found.append(TREE.placements)
        found += [TREE.placed_program(w) for w in STUDIES["placements"].get("programs", {})]
    if "scenarios" in STUDIES:
        found += [TREE.scenarios(w, "cells") for w in STUDIES["scenarios"]["workloads"]]
    if "virtuoso" in STUDIES:
        found += [TREE.virtuoso(w, "shares") for w in STUDIES["virtuoso"]["workloads"]]
    if "threads" in STUDIES:
        found.append(TREE.threads_sweep(STUDIES["threads"]["workload"], STUDIES["threads"]["platform"]))
    if "transfer" in STUDIES:
        found.append(TREE.transfer("verdicts"))
    return found


def designed():
    """workload -> section of its designs; a workload that is only in `also` has no others."""
    asked = STUDIES.get("designs", {})
    also, every = asked.get("also", {}), asked.get("workloads", [])
    alone = {w: asked | {"designs": [], "also": also[w]} for w in also if w not in every}
    return {w: asked | {"also": also.get(w)} for w in every} | alone


DESIGNED = designed()


def study_windows():
    """The windows that the studies simulate."""
    simulated = {name: one for name, one in STUDIES.items() if "window_accesses" in one}
    asked = {(w, name) for name, one in simulated.items() for w in one.get("workloads", [one.get("workload")])}
    asked |= {(w, "designs") for w in DESIGNED}
    found = {window(workload, study) for workload, study in asked}
    return sorted(found | {TREE.window(w, one["window_accesses"]) for (w, p), one in ABLATED.items()})


def studied():
    """Workloads whose recordings studies need; all of them are recorded when the studies are done."""
    found = {*DESIGNED, *STUDIES.get("placements", {}).get("programs", {}), *(w for w, _ in ABLATED)}
    for one in STUDIES.values():
        found |= {*one.get("workloads", [one.get("workload")])} if "window_accesses" in one else set()
    return found


def finished_files():
    """Removals of the prepared files whose rows are all studied; another row may still need its file."""
    return [TREE.prepared_dropped(file) for file in PREPARED if studied().issuperset(rows_of(file))]


rule study_window:
    localrule: True  # seconds
    input:
        component_stamps("tracer"),
        info=TREE.info("{workload}"),
    output: TREE.window("{workload}", "{accesses}"),
    log: TREE.log("window-{workload}-{accesses}"),
    wildcard_constraints: accesses="[0-9]+",
    params: code=study_code("window"),
    priority: 18  # studies wait for it, the longest ones among them
    message: "Cutting a window of {wildcards.accesses} accesses out of {wildcards.workload}"
    shell: "tessera lab run window trace={input.info} accesses={wildcards.accesses} --out {output} > {log} 2>&1"


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
        words=catalogue.words(STUDIES.get("sampling", {}), seed=config["seed"], cache=TREE.cache),
        code=study_code("sampling"),
        files=lambda w: platform_content(STUDIES["sampling"]["platform"]),
    priority: 15
    resources: mem_mb=1000
    message: "Comparing sampling methods on {wildcards.workload}"
    shell:
        "tessera lab run sampling trace={input.info} manifest={input.manifest} platform={input.platform}"
        " {params.words} --out {output.errors} 2> >(tee {log} >&2)"


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
        words=lambda w: catalogue.words(ABLATED[w.workload, w.platform], cache=TREE.cache),
        code=study_code("ablations"),
        files=lambda w: platform_content(w.platform),
    priority: 15
    resources: mem_mb=1000
    message: "Switching off one mechanism at a time: {wildcards.workload} on {wildcards.platform}"
    shell:
        "tessera lab run ablations trace={input.info} manifest={input.manifest} platform={input.platform}"
        " {params.words} --out {output.shapes} 2> >(tee {log} >&2)"


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
        words=catalogue.words(STUDIES.get("sweep", {}), cache=TREE.cache), code=study_code("sweep"),
        files=lambda w: platform_content(w.platform),
    priority: 15
    resources: mem_mb=1000
    message: "Varying the assumed values of {wildcards.platform}, on {wildcards.workload}"
    shell:
        "tessera lab run sweep trace={input.info} manifest={input.manifest} platform={input.platform}"
        " {params.words} jobs={threads} --out {output} 2> >(tee {log} >&2)"


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
        words=lambda w: catalogue.words(DESIGNED[w.workload], seed=config["seed"], cache=TREE.cache),
        code=study_code("designs"), files=lambda w: platform_content(w.platform),
    priority: 16  # its jobs are long: none must be the last one, alone
    resources: mem_mb=1000
    message: "Comparing translation designs on {wildcards.workload}"
    shell:
        "tessera lab run designs trace={input.info} platform={input.platform} {params.words} jobs={threads}"
        " --out {output.cells} 2> >(tee {log} >&2)"


rule study_probes:
    input:
        component_stamps("simulator", "tracer"),
        platform=lambda w: platform_file(STUDIES["probes"]["platform"]),
    output: TREE.probes,
    log: TREE.log("study-probes"),
    benchmark: TREE.benchmark("study-probes")
    params:
        words=catalogue.words(STUDIES.get("probes", {}), seed=config["seed"]), code=study_code("probes"),
        files=lambda w: platform_content(STUDIES["probes"]["platform"]),
        printed=content_digest(*(f"reference-results/park_{n}.csv" for n in ("table21_shared_memory", "table22_synonym_filter"))),
    priority: 15
    resources: mem_mb=1000
    message: "Probing single structures of designs"
    shell:
        "tessera lab run probes platform={input.platform} {params.words} --out {output} > {log} 2>&1"


rule study_placements:
    input:
        component_stamps("simulator", "tracer"),
        platform=lambda w: platform_file(STUDIES["placements"]["platform"]),
    output: TREE.placements,
    log: TREE.log("study-placements"),
    benchmark: TREE.benchmark("study-placements")
    params:
        words=catalogue.words(STUDIES.get("placements", {}), seed=config["seed"], cache=TREE.cache),
        code=study_code("numa-placements"),
        files=lambda w: platform_content(STUDIES["placements"]["platform"]),
        printed=content_digest(*(f"reference-results/mitosis_{n}.csv" for n in ("table2", "timing"))),
    priority: 15
    resources: mem_mb=1000
    message: "Simulating placements of page tables"
    shell:
        "tessera lab run numa-placements platform={input.platform} {params.words} jobs={threads} --out {output}"
        " 2> >(tee {log} >&2)"


rule study_program:
    input:
        component_stamps("simulator"),
        info=TREE.info("{workload}"),
        platform=lambda w: platform_file(STUDIES["placements"]["platform"]),
    output: TREE.placed_program("{workload}"),
    log: TREE.log("study-program-{workload}"),
    benchmark: TREE.benchmark("study-program-{workload}")
    params:
        words=lambda w: catalogue.words(
            {"scale": STUDIES["placements"]["programs"][w.workload]}, sampling=config["sampling"], cache=TREE.cache
        ),
        code=study_code("numa-program"),
        files=lambda w: platform_content(STUDIES["placements"]["platform"]),
        printed=content_digest(*(f"reference-results/mitosis_{n}.csv" for n in ("table2", "timing"))),
    priority: 15
    resources: mem_mb=1000
    message: "Simulating placements of page tables for {wildcards.workload}"
    shell:
        "tessera lab run numa-program trace={input.info} platform={input.platform} {params.words} jobs={threads}"
        " --out {output} 2> >(tee {log} >&2)"


rule study_transfer:
    input:
        component_stamps("simulator", "tracer"),
        info=lambda w: window(w.workload, "transfer"),
        manifest=TREE.manifest("{workload}", "{platform}"),
        platform=lambda w: platform_file(w.platform),
    output: [TREE.transfer_of("{workload}", "{platform}", Path(table.file).stem) for table in transfer_tables.PARTS],
    log: TREE.log("study-transfer-{workload}-{platform}"),
    benchmark: TREE.benchmark("study-transfer-{workload}-{platform}")
    params:
        words=lambda w: catalogue.words(
            TRANSFER, seed=config["seed"], cache=TREE.cache,
            ladders=w.workload in TRANSFER.get("ladders", [w.workload]),
        ),
        code=study_code("transfer"),
        files=lambda w: platform_content(w.platform), out=lambda w, output: Path(output[0]).parent,
    priority: 16  # its jobs are long: none must be the last one, alone
    resources: mem_mb=1000
    message: "Asking models of {wildcards.platform} for new designs, on {wildcards.workload}"
    shell:
        "tessera lab run transfer trace={input.info} manifest={input.manifest} platform={input.platform}"
        " {params.words} jobs={threads} --out {params.out:q} 2> >(tee {log} >&2)"


rule study_transfer_verdicts:
    localrule: True  # works on tables
    input: [TREE.transfer_of(w, p, "points") for w in TRANSFER.get("workloads", []) for p in TRANSFER["platforms"]],
    output: [TREE.transfer(Path(table.file).stem) for table in transfer_tables.OF_RUN],
    log: TREE.log("study-transfer"),
    params:
        parts=lambda w, input: catalogue.repeated("parts", (Path(path).parent for path in input)),
        out=lambda w, output: Path(output[0]).parent, code=study_code("transfer-verdicts"),
    message: "Judging models of P in each class of designs"
    shell: "tessera lab run transfer-verdicts {params.parts} --out {params.out:q} > {log} 2>&1"


rule studies:
    """Only the studies: snakemake --cores all studies. Prepared files go as soon as all of their rows are recorded."""
    input:
        study_outputs(),
        finished_files(),
        lambda w: guest_parts_here(),  # of kernel_numa.smk


include: "studies_os.smk"
include: "energy.smk"
