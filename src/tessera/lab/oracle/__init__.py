"""Linux 6.12 in a guest as the oracle of the imitation's decisions.

The guest runs events; the host reads its free lists from the guest's memory; ``tessera-phys`` runs the same
events from the same lists. From the bottom:

- ``guest_memory``: the kernel's virtual memory, and addresses and layouts of its structs;
- ``snapshot``: the state of the allocator as text that ``tessera-phys`` reads;
- ``imitation``: random events, runs of ``tessera-phys`` and ``tessera-vm``, and what is compared;
- ``allocator``, ``collapse``, ``process_faults``, ``readahead``: decisions and counts of the allocator;
  khugepaged's table; frames of a process and copy on write; pages from files and from swap;
- ``paging``: maps of a process at its looks; ``scenes``: compaction, pools of huge pages and reclaim, which
  change them;
- ``guest_runs``: the other runs in the guest;
- ``recording``: what the tests replay; ``comparisons``: its table; ``recorder``: all runs.
"""
