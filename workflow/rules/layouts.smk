"""Layouts of a workload; the sliding windows follow the platform's own misses."""


def platform_file(platform):
    """YAML of a platform: committed, or detected on this machine."""
    if platform == "host-sim":
        return f"{RESULTS}/platforms/host-sim.yaml"
    return f"config/platforms/{platform}.yaml"


rule layouts:
    input:
        component_stamps("simulator"),
        info=f"{RESULTS}/traces/{{workload}}/info.json",
        platform=lambda w: platform_file(w.platform),
    output:
        manifest=f"{RESULTS}/layouts/{{workload}}/{{platform}}/manifest.csv",
        profile=f"{RESULTS}/layouts/{{workload}}/{{platform}}/profile/misses.csv",
    log: f"{RESULTS}/logs/layouts-{{workload}}-{{platform}}.log",
    benchmark: f"{RESULTS}/benchmarks/layouts-{{workload}}-{{platform}}.tsv"
    params: seed=config["seed"], random_count=config["random_count"],
    priority: 12  # cells wait for them
    resources: mem_mb=1000
    message: "Choosing layouts of {wildcards.workload} on {wildcards.platform}"
    shell:
        "tessera pipeline layouts --info {input.info} --platform {input.platform} --seed {params.seed}"
        " --random-count {params.random_count} --out {output.manifest} 2> >(tee {log} >&2)"
