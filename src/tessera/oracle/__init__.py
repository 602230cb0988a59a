"""Linux 6.12 in a guest as the oracle of the imitation's decisions.

The guest runs events; the host reads its free lists from the guest's memory; ``tessera-phys`` runs the same
events from the same lists. From the bottom:

- ``vmlinux``: addresses and layouts of structs, described when the kernel was built;
- ``memory``: the kernel's virtual memory, through its page tables;
- ``snapshot``: the state of the allocator as text that ``tessera-phys`` reads;
- ``events``: a random mix of allocations and frees, for the guest and for the imitation;
- ``imitation``: runs ``tessera-phys`` and ``tessera-vm``;
- ``compare``: decisions of both, free-running and block by block;
- ``counts``, ``collapse``, ``faults``, ``files``, ``copies``: the kernel's own counts; khugepaged's table;
  frames of a process; readahead and fault-around; copy on write;
- ``swaps``, ``paging``, ``moves``, ``pools``, ``lists``: slots and readahead of swap; maps of a process
  at its looks; compaction, pools of huge pages and reclaim, which change them; ``scenes``: their runs;
- ``record``: the other runs in the guest;
- ``fixture``: the recording that the tests replay; ``table``: its comparisons; ``recorder``: all runs."""
