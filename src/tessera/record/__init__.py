"""Record: programs, and the traces of their memory accesses.

- `workloads`: one YAML file each; how each kind is prepared and run
- `datasets`: published inputs; `debian_programs`: inputs that are made here
- `traces`: recording under QEMU, the format's header, windows, conversion

Imports machine and core. Start with `workloads.definition`, then `traces.recording`.
"""
