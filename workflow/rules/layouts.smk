"""Layouts of a workload; the sliding windows depend on the misses on the platform."""


def platform_file(platform):
    """YAML file of a platform as an input: detected on this machine, or committed (its time does not count)."""
    if platform == "host-sim":
        return TREE.platform(platform)
    return ancient(f"config/platforms/{platform}.yaml")


def platform_content(platform):
    """Digest of a committed platform."""
    return "" if platform == "host-sim" else content_digest(f"config/platforms/{platform}.yaml")


#: Values of every simulated platform that the configuration changes, as a key of a step.
CHANGES = [f"{key}={value}" for key, value in sorted(config.get("changes", {}).items())] or None


rule layouts:
    localrule: True  # seconds
    input:
        component_stamps("simulator"),
        info=TREE.info("{workload}"),
        platform=lambda w: platform_file(w.platform),
    output: manifest=TREE.manifest("{workload}", "{platform}"), profile=TREE.profile("{workload}", "{platform}"),
    log: TREE.log("layouts-{workload}-{platform}"),
    benchmark: TREE.benchmark("layouts-{workload}-{platform}")
    params:
        words=catalogue.words(
            {}, seed=config["seed"], random_count=config["random_count"], windows=config.get("layout_windows"),
            changes=CHANGES,
        ),
        code=code("tessera.cli.pipeline.simulation"),
        files=lambda w: platform_content(w.platform),
    priority: 12  # cells wait for them
    resources: mem_mb=600
    message: "Choosing layouts of {wildcards.workload} on {wildcards.platform}"
    shell:
        "tessera dev step layouts trace={input.info} platform={input.platform} {params.words}"
        " --out {output.manifest} 2> >(tee {log} >&2)"
