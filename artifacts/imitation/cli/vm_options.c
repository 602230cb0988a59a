#include "cli/vm_options.h"

#include <string.h>

#include "cli/command_line.h"

static const char *const program = "tessera-vm";

const char *const vm_options_help =
    "Imitates what Linux 6.12 does to the memory of one program: areas, page faults, huge pages, khugepaged.\n"
    "\n"
    "  tessera-vm replay EVENTS START [OPTIONS]    runs the events of a file and prints each fault\n"
    "\n"
    "START is one of\n"
    "  --memory SIZE        a PC with this much memory, all of it free; MB or GB, for example 4GB\n"
    "  --snapshot FILE      a state of physical memory that tessera-phys wrote, for example after fragment\n"
    "\n"
    "Options\n"
    "  --thp WORD             always, madvise or never (default always; with less than 512MB managed: never)\n"
    "  --defrag WORD          always, defer, defer+madvise, madvise or never (default madvise; less than 512MB: never)\n"
    "  --zero-page on|off     reads of untouched 2MB get the huge zero page (default on; less than 512MB: off)\n"
    "  --max-ptes-none N      empty entries that khugepaged fills, of 512 (default 511)\n"
    "  --max-ptes-swap N      (default 64)       --max-ptes-shared N  (default 256)\n"
    "  --pages-to-scan N      entries that khugepaged looks at in one wake-up (default 4096)\n"
    "  --swap SIZE            a swap area, MB or GB (default none)\n"
    "  --swap-device WORD     disk: reads ahead, writes end with their round; zram: one page, at once (default disk)\n"
    "  --swappiness N         0 to 200 (default 60)       --page-cluster N   swap reads 2^N pages at once, 0 to 5 (default 3)\n"
    "  --policy NAME          who decides what anonymous memory gets (vm/policies.def; default linux-6.12)\n"
    "  --root-order 0|1       frames of the root table: 1 with page-table isolation (default 1)\n"
    "  --disk MODEL[:KEY=VALUE,...]  what reads of files cost: constant (read, write in ns) or flash (channels, dies, page in bytes,\n"
    "                         tR, tPROG, overhead in ns, bus in MB/s); a read starts when the one before has ended; counted, no decision depends on it\n"
    "  --ram-disk             reads of files are done at once; without it, pages stay locked until the program needs one of them\n"
    "  --slab on|off          areas take kernel objects in slabs: vm_area_struct, vma_lock, anon_vma, anon_vma_chain (default off)\n"
    "  --others fixed|movable blocks of order 0 that the snapshot names as used and on an LRU list: compaction moves them, or not\n"
    "                         (default fixed)\n"
    "  --cpus N               1 to 64 CPUs (default 1); events run on CPU 0\n"
    "  --decisions            prints every decision of physical memory, the page cache, reclaim, swap and compaction under the\n"
    "                         event that caused it\n"
    "  --changes              prints under each event the page-table entries that it wrote (page, level, cause, old, new; a table that is put\n"
    "                         in place as a whole is one line), and the areas that came, changed or went\n"
    "\n"
    "Events, one on a line. ADDR and LEN are bytes, hexadecimal with 0x or decimal, multiples of 4096\n"
    "  mmap ADDR LEN RIGHTS [noreserve] [file=N [offset=BYTES] [shared]] [hugetlb=2MB|1GB]\n"
    "                          RIGHTS: none, or letters of rwx, for example rw; ADDR any: mmap chooses a place below\n"
    "                          0x7ffff7fff000 (for private anonymous memory only: give files and shared memory an address)\n"
    "  munmap ADDR LEN         mprotect ADDR LEN RIGHTS      mremap ADDR OLD NEW [TO]\n"
    "  madvise ADDR LEN hugepage|nohugepage|dontneed|pageout\n"
    "  heap ADDR               the start of the heap, once; then: brk ADDR\n"
    "  touch ADDR r|w [LEN]    one access to each page, from the page of ADDR on, which may be any byte; a bad access, or one\n"
    "                          that is not modelled, ends the event\n"
    "  scan                    one wake-up of khugepaged (Linux: each 10 s)\n"
    "  file N SIZE [large]     a file whose bytes are on the disk; then mmap ... file=N; large: it has large folios, as XFS's have\n"
    "  read N OFFSET LEN       write N OFFSET LEN: a call of the program, in bytes, by way of the page cache\n"
    "  drop-caches             pages of files that are clean and not mapped are freed\n"
    "  hugetlb 2MB|1GB N       the pool of huge pages shall have N pages (nr_hugepages); then mmap ... hugetlb=2MB\n"
    "  fork N                  process N starts as a copy; process N: the next events are its own (0: the first process)\n"
    "  exit                    the process ends; process 0 goes on\n"
    "  kswapd                  one pass of kswapd: it reclaims if no zone has its high mark, and the boosts of the watermarks end.\n"
    "                          It also works after each access that woke it\n"
    "  reclaim LEN             a write of LEN bytes to the file memory.reclaim of the root cgroup\n"
    "  compact                 all zones are compacted (/proc/sys/vm/compact_memory)\n"
    "  kcompactd               its periodic check (Linux: each 500 ms), which compacts badly fragmented memory\n"
    "  idle [kswapd]           the CPU has nothing to do, and puts its drift into the counters of free frames and of the LRU lists;\n"
    "                          kswapd: from now on also after each access that woke kswapd, until kswapd sleeps\n"
    "  flush-counters          the kernel has memory cgroups: from the first one on, reclaim sees the sizes of the lists at the last one\n"
    "                          (Linux: each 2 s)\n"
    "  pages ADDR LEN          prints what the process maps there\n"
    "Output, one line for each of\n"
    "  fault ADDR r|w KIND order=N frame=N [from=N] tables=N,N [around=N] [major] [fallback] [split] [lru]\n"
    "                          KIND: page, zero, copy, reuse, file, bus, swap, swap-cache, bad-access, not-modelled; from: the frame copied;\n"
    "                          around: pages of the file that were mapped; major: the disk was read; lru: the CPU's batch went to its list\n"
    "  fork N tables=N pages=N (entries copied)  read N bytes=N  write N bytes=N  drop-caches pages=N  hugetlb 2MB pages=N  reclaim pages=N\n"
    "  pages ADDR frame=F|slot=S|zero count=N   of each run of pages with ascending frames or slots of swap; 2MB count as 512\n"
    "  place ADDR              of mmap any      scan ADDR RESULT        of each range that khugepaged looked at\n"
    "Accesses without a fault print nothing. At the end the program exits. Exit status: 0, or 1 if an event is impossible or\n"
    "memory and swap are full (OOM), or 2 if the command line is wrong or a file cannot be read.\n"
    "\n"
    "Example\n"
    "  printf 'mmap 0x40000000 0x400000 rw\\ntouch 0x40000000 w\\n' > /tmp/events\n"
    "  tessera-vm replay /tmp/events --memory 1GB\n";

static bool complete(struct vm_options *options, struct error *error) {
    struct options *machine = &options->machine;
    const char *asked = "replay", *value = NULL, *rule = NULL;
    if (!machine->command || strcmp(machine->command, "replay") != 0)
        asked = "command", value = machine->command, rule = "the command is replay";
    else if (!options->events) rule = "a file of events follows";
    else if ((machine->memory_bytes > 0) == (machine->snapshot != NULL)) rule = "give one of --memory and --snapshot";
    else if (machine->snapshot && machine->has_config) asked = "--cpus", rule = "the snapshot contains the machine; leave this option out";
    if (options->has_enabled) machine->config.thp = options->thp.enabled == THP_NEVER ? PHYS_THP_OFF : PHYS_THP_ON;
    return !rule || command_line_refuse(error, program, asked, value, rule);
}

bool vm_options_parse(struct vm_options *options, int count, char **arguments, struct error *error) {
    static const char *const enabled[] = {"always", "madvise", "never", NULL}, *const defrag[] = {"always",  "defer", "defer+madvise",
                                                                                                  "madvise", "never", NULL},
                             *const off_on[] = {"off", "on", NULL}, *const devices[] = {"disk", "zram", NULL},
                             *const others[] = {"fixed", "movable", NULL};
    size_t most = 0;
    while (policy_name(most)) ++most;
    const char *policies[most + 1];
    for (size_t i = 0; i <= most; ++i) policies[i] = policy_name(i);  // NULL at the end
    struct options *machine = &options->machine;
    struct thp *thp = &options->thp;
    const char *policy = "linux-6.12";
    uint64_t swap_bytes = 0;
    const struct option table[] = {
        {"--memory", .bytes = &machine->memory_bytes, .least = 1, .most = OPTIONS_MOST_MEMORY},
        {"--snapshot", .text = &machine->snapshot},
        {"--cpus", .number = &machine->config.cpus, .least = 1, .most = PHYS_MAX_CPUS, .given = &machine->has_config},
        {"--thp", .word = (uint32_t *)&thp->enabled, .words = enabled, .given = &options->has_enabled},
        {"--defrag", .word = (uint32_t *)&thp->defrag, .words = defrag, .given = &options->has_defrag},
        {"--zero-page", .second = &thp->use_zero_page, .words = off_on, .given = &options->has_zero_page},
        {"--max-ptes-none", .number = &thp->max_ptes_none, .most = PT_SLOTS - 1},
        {"--max-ptes-swap", .number = &thp->max_ptes_swap, .most = PT_SLOTS - 1},
        {"--max-ptes-shared", .number = &thp->max_ptes_shared, .most = PT_SLOTS - 1},
        {"--pages-to-scan", .number = &thp->pages_to_scan, .least = 1, .most = 100000000},
        {"--swap", .bytes = &swap_bytes, .least = 1, .most = (uint64_t)UINT32_MAX << 12},
        {"--swap-device", .second = &options->swap_synchronous, .words = devices},
        {"--swappiness", .number = &options->swappiness, .most = 200},
        {"--page-cluster", .number = &options->page_cluster, .most = 5},
        {"--policy", .text = &policy, .words = policies},
        {"--root-order", .number = &options->root_order, .most = 1},
        {"--disk", .text = &options->disk},
        {"--ram-disk", .flag = &options->ram_disk},
        {"--slab", .second = &options->slabs, .words = off_on},
        {"--others", .second = &options->others_move, .words = others},
        {"--decisions", .flag = &options->decisions},
        {"--changes", .flag = &options->changes},
        {.name = NULL}};
    const struct command_line line = {program, table, {&machine->command, &options->events}, &options->help};
    *options = (struct vm_options){
        .thp = thp_default(), .root_order = 1, .page_cluster = 3, .swappiness = 60, .machine = {.config = phys_config_default()}};
    if (!command_line_parse(&line, count, arguments, error)) return false;
    options->policy = policy_named(policy);
    options->swap_pages = (uint32_t)(swap_bytes >> 12);
    return options->help || complete(options, error);
}

void vm_options_settle(struct vm_options *options, const struct phys *p) {
    uint64_t managed = 0;
    for (int i = 0; i < PHYS_ZONES; ++i) managed += p->zones[i].managed_frames;
    const struct thp boot = thp_boot(managed);
    if (!options->has_enabled) options->thp.enabled = boot.enabled;
    if (!options->has_defrag) options->thp.defrag = boot.defrag;
    if (!options->has_zero_page) options->thp.use_zero_page = boot.use_zero_page;
    options->thp.khugepaged_defrag = boot.khugepaged_defrag;
}
