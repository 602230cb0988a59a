"""Lab: studies on the simulator, and real systems beside it. Each writes tables that claims and figures read.

- `studies`: sampling, ablations, designs, probes, scenarios; `transfer`: models asked for new designs
- `validation`, `chase`, `clock`: is the simulator right?
- `kernel`, `numa`: Linux with replicated page tables, and what remote page tables cost
- `faults`, `oracle`: Linux's page faults, and its decisions beside those of the imitation
- `energy`: energy and threads; `allocator_proof`: tests and costs of the allocator
- `walk_cost`: verdicts that depend on what a walk costs before its first load

Imports fit and what is below. Start with `study`, then `studies.sampling`.
"""
