"""What the workflow calls: steps that turn failures into rows, and what Snakemake needs around them.

- steps: `record`, `prepare`, `simulation` (layouts and cells), `fit`, `real_runs`, `bundles`
- before a run: `needs` (memory, disk)
- around the jobs: `digests`, `lock`, `failures`, `job_log`

Start with `simulation`; `tessera.cli.dev.steps` lists the steps.
"""
