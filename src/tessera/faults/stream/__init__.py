"""Page faults that were recorded in Linux 6.12 in a guest (docs/faults.md).

From the bottom:

- ``format``: the recording as text: faults, accesses;
- ``structures``: which structure of the kernel a line belongs to;
- ``facts``: what the guest's memory says about its frames, for ``structures``;
- ``counts``: instructions, loads, stores and lines of faults;
- ``templates``: recorded faults whose page and table entries are operands;
- ``weave``: templates as a file for the simulator;
- ``recording``: a folder with chosen faults and the counts of all;
- ``record``: boots the guest with the plugin."""
