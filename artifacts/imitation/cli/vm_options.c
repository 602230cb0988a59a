#include "cli/vm_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static bool refuse(struct error *error, const char *option, const char *value, const char *rule) {
    error_asked(error, "%s%s%s", option, value ? " " : "", value ? value : "");
    error_found(error, "%s", rule);
    return error_remedy(error, "run: tessera-vm --help");
}

static bool refuse_policy(struct error *error, const char *value) {
    char names[120] = "the policies are";
    for (size_t i = 0; policy_name(i); ++i)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s %s", i ? "," : "", policy_name(i));
    return refuse(error, "--policy", value, names);
}

static bool number(const char *text, uint64_t least, uint64_t most, uint64_t *value) {
    char *end;
    if (text[0] < '0' || text[0] > '9' || strlen(text) > 9) return false;
    *value = strtoull(text, &end, 10);
    return *end == '\0' && *value >= least && *value <= most;
}

static bool memory_bytes(const char *text, uint64_t *bytes) {
    const size_t length = strlen(text);
    char digits[16];
    if (length < 3 || length > 10 || text[length - 1] != 'B') return false;
    const unsigned shift = text[length - 2] == 'G' ? 30 : text[length - 2] == 'M' ? 20 : 0;
    memcpy(digits, text, length - 2);
    digits[length - 2] = '\0';
    if (shift == 0 || !number(digits, 1, UINT64_C(1) << 20, bytes)) return false;
    *bytes <<= shift;
    return true;
}

static bool limit(const char *value, uint64_t least, uint64_t most, uint32_t *into) {
    uint64_t n;
    if (!number(value, least, most, &n)) return false;
    *into = (uint32_t)n;
    return true;
}

/// Sets one option with a value. *known tells whether there is such an option.
static bool set(struct vm_options *options, const char *name, const char *value, bool *known) {
    struct thp *thp = &options->thp;
    uint64_t n = 0;
    int word;
    *known = true;
    if (strcmp(name, "--memory") == 0) return memory_bytes(value, &options->machine.memory_bytes);
    if (strcmp(name, "--policy") == 0) return (options->policy = policy_named(value)) != NULL;
    if (strcmp(name, "--disk") == 0) return (options->disk = value) != NULL;
    if (strcmp(name, "--slab") == 0) return (options->slabs = strcmp(value, "on") == 0) || strcmp(value, "off") == 0;
    if (strcmp(name, "--others") == 0) return (options->others_move = strcmp(value, "movable") == 0) || strcmp(value, "fixed") == 0;
    if (strcmp(name, "--snapshot") == 0) return (options->machine.snapshot = value) != NULL;
    if (strcmp(name, "--max-ptes-none") == 0) return limit(value, 0, 511, &thp->max_ptes_none);
    if (strcmp(name, "--max-ptes-swap") == 0) return limit(value, 0, 511, &thp->max_ptes_swap);
    if (strcmp(name, "--max-ptes-shared") == 0) return limit(value, 0, 511, &thp->max_ptes_shared);
    if (strcmp(name, "--pages-to-scan") == 0) return limit(value, 1, 100000000, &thp->pages_to_scan);
    if (strcmp(name, "--cpus") == 0) {
        options->machine.has_config = true;
        return limit(value, 1, PHYS_MAX_CPUS, &options->machine.config.cpus);
    }
    if (strcmp(name, "--page-cluster") == 0) return limit(value, 0, 5, &options->page_cluster);
    if (strcmp(name, "--swappiness") == 0) return limit(value, 0, 200, &options->swappiness);
    if (strcmp(name, "--swap") == 0) {
        const bool fits = memory_bytes(value, &n) && n >> 12 <= UINT32_MAX;
        options->swap_pages = (uint32_t)(n >> 12);
        return fits;
    }
    if (strcmp(name, "--swap-device") == 0) {
        options->swap_synchronous = strcmp(value, "zram") == 0;
        return options->swap_synchronous || strcmp(value, "disk") == 0;
    }
    if (strcmp(name, "--root-order") == 0) {
        if (!number(value, 0, 1, &n)) return false;
        options->root_order = (unsigned)n;
        return true;
    }
    if (strcmp(name, "--zero-page") == 0) {
        options->has_zero_page = true;
        thp->use_zero_page = strcmp(value, "on") == 0;
        return thp->use_zero_page || strcmp(value, "off") == 0;
    }
    if (strcmp(name, "--thp") == 0) {
        options->has_enabled = true;
        word = thp_enabled_named(value);
        thp->enabled = (enum thp_enabled)(word < 0 ? 0 : word);
        return word >= 0;
    }
    if (strcmp(name, "--defrag") == 0) {
        options->has_defrag = true;
        word = thp_defrag_named(value);
        thp->defrag = (enum thp_defrag)(word < 0 ? 0 : word);
        return word >= 0;
    }
    return *known = false;
}

static bool complete(struct vm_options *options, struct error *error) {
    struct options *machine = &options->machine;
    if (!machine->command || strcmp(machine->command, "replay") != 0)
        return refuse(error, "command", machine->command ? machine->command : "", "the command is replay");
    if (!options->events) return refuse(error, "replay", NULL, "a file of events follows");
    if ((machine->memory_bytes > 0) == (machine->snapshot != NULL))
        return refuse(error, "replay", NULL, "give one of --memory and --snapshot");
    if (machine->snapshot && machine->has_config)
        return refuse(error, "--cpus", NULL, "the snapshot contains the machine; leave this option out");
    if (options->has_enabled) machine->config.thp = options->thp.enabled == THP_NEVER ? PHYS_THP_OFF : PHYS_THP_ON;
    return true;
}

bool vm_options_parse(struct vm_options *options, int count, char **arguments, struct error *error) {
    *options = (struct vm_options){.thp = thp_default(),
                                   .policy = policy_named("linux-6.12"),
                                   .root_order = 1,
                                   .page_cluster = 3,
                                   .swappiness = 60,
                                   .machine = {.config = phys_config_default()}};
    for (int i = 1; i < count; ++i) {
        const char *name = arguments[i], *value = i + 1 < count ? arguments[i + 1] : NULL;
        bool known = false;
        if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) return options->help = true;
        if (strcmp(name, "--decisions") == 0) {
            options->decisions = true;
        } else if (strcmp(name, "--changes") == 0) {
            options->changes = true;
        } else if (strcmp(name, "--ram-disk") == 0) {
            options->ram_disk = true;
        } else if (name[0] != '-') {
            if (options->machine.command && options->events) return refuse(error, name, NULL, "there are too many arguments");
            *(options->machine.command ? &options->events : &options->machine.command) = name;
        } else {
            if (!value) return refuse(error, name, NULL, "an option is followed by its value");
            const bool fits = set(options, name, value, &known);
            if (!known) return refuse(error, name, NULL, "there is no such option");
            if (!options->policy) return refuse_policy(error, value);
            if (!fits) return refuse(error, name, value, "the value does not fit this option");
            ++i;
        }
    }
    return complete(options, error);
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
