"""What the workflow calls: steps that turn failures into rows, and what Snakemake needs around them.

- steps: `record`, `simulation` (layouts and cells), `fit`, `real_runs`, `bundles`
- before a run: `needs` (memory, disk, prepared files)
- around the jobs: `digests`, `lock`, `failures`, `job_log`

Start with `simulation`; `tessera.cli.dev.pipeline_steps` has the commands.
"""
