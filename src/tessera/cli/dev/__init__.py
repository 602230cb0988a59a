"""Commands for developers: steps of the workflow, build, packages, reference data, notebooks.

Start with `steps`: what the rules of the workflow call.
"""
