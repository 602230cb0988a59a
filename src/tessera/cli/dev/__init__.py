"""Commands for developers: steps of the workflow, build, packages, reference data, notebooks."""
