// tessera-vm: replays the memory calls and accesses of one program on an imitation of Linux 6.12's virtual memory.
#include <inttypes.h>
#include <stdlib.h>

#include "cli/machine.h"
#include "disk/disk.h"
#include "cli/vm_options.h"
#include "cli/vm_replay.h"
#include "vm/foreign.h"
#include "vm/slow_path.h"

static void print_count(const char *name, uint64_t count) { fprintf(stderr, "%s %" PRIu64, name, count); }

static void print_reclaim(const struct vm_system *system, const struct vm_replay_counts *counts) {
    const struct reclaim_counts *of = &system->reclaim.counts;
    print_count("\nkswapd passes", counts->kswapd_passes);
    print_count(", direct reclaims", of->allocstall);
    print_count("; pages scanned", of->pgscan_kswapd + of->pgscan_direct);
    print_count(", reclaimed", of->pgsteal_kswapd + of->pgsteal_direct);
    print_count("; to swap", system->swap.counts.pswpout);
    print_count(", from swap", system->swap.counts.pswpin);
    print_count(", ahead", system->swap.counts.swap_ra);
    print_count(", used of those", system->swap.counts.swap_ra_hit);
}

/// A disk, and the time at which its last read ended.
struct clock {
    struct disk disk;
    uint64_t now;
};

static void read_disk(void *context, uint32_t file, uint64_t index, uint32_t pages) {
    struct clock *clock = context;
    const uint64_t place = (uint64_t)(file & 0xffff) << 47 | index << 12;      // files lie far apart
    clock->now = disk_read(&clock->disk, clock->now, place, (uint64_t)pages << 12);
}

static void print_slabs(const struct area_slabs *slabs) {
    for (int i = 0; i < SLAB_MAPLE_NODE; ++i) {
        fprintf(stderr, "%s %s", i == 0 ? "slabs:" : ",", slabs->cache[i].name);
        print_count("", slabs->cache[i].counts.new_slabs);
        print_count(" of", slabs->cache[i].counts.allocs);
    }
    print_count(" objects; refused", slabs->failed);
    fputc('\n', stderr);
}

static void print_counts(const struct vm_replay_counts *counts, const struct process *process) {
    const struct vm_counts *of = &process->system->counts;
    const uint64_t *tables = process->pt.tables;
    uint64_t accesses = 0;
    for (int kind = 0; kind < FAULT_KINDS; ++kind) accesses += counts->faults[kind][0] + counts->faults[kind][1];
    print_count("accesses", accesses);
    print_count(", without a fault", counts->faults[FAULT_NONE][0]);
    print_count("; 4KB pages", counts->faults[FAULT_PAGE][0]);
    print_count(", zero pages", counts->faults[FAULT_ZERO][0]);
    print_count(", copies", counts->faults[FAULT_COPY][0]);
    print_count("; 2MB pages", of->thp_fault_alloc);
    print_count(", 2MB of zeros", counts->faults[FAULT_ZERO][1]);
    print_count(", fallbacks", of->thp_fault_fallback);
    print_count("; compactions", process->system->compact.counts.stall);
    print_count(", successful", process->system->compact.counts.success);
    print_count(", pages moved", process->system->compact.counts.pgmigrate_success);
    print_count("\ntables", tables[0] + tables[1] + tables[2] + tables[3]);
    print_count(", deposited", process->pt.deposited);
    print_count("; collapsed", counts->collapsed);
    print_count(", split", of->thp_split_pmd);
    print_count("; bad accesses", counts->faults[FAULT_BAD_ACCESS][0]);
    print_count(", not modelled", counts->faults[FAULT_NOT_MODELLED][0]);
    print_reclaim(process->system, counts);
    const struct file_cache *files = &process->system->files;
    if (files->files > 0) {
        print_count("\nfiles: faults", counts->faults[FAULT_FILE][0]);
        print_count(", major", of->pgmajfault);
        print_count(", pages read", files->counts.pages_read);
        print_count(" in requests", files->counts.requests);
    }
    fputc('\n', stderr);
}

static bool replay(struct phys *p, const struct vm_options *options, int *status, struct error *error) {
    struct vm_replay_counts counts;
    struct vm_system system;
    struct process process;
    size_t bytes;
    char *text = read_file(options->events, &bytes, error);
    if (!text) {
        *status = 2;
        return false;
    }
    struct clock clock = {.now = 0};
    if (options->disk && !disk_create(&clock.disk, options->disk, error)) {
        *status = 2;
        free(text);
        return false;
    }
    struct area_slabs slabs;
    vm_create(&system, p, &options->thp);
    policy_use(&system, options->policy);
    vm_swap_on(&system, options->swap_pages, options->swap_synchronous);
    system.page_cluster = options->page_cluster;
    system.reclaim.swappiness = options->swappiness;
    slow_path_start(&system);
    if (options->others_move) foreign_adopt(&system);
    if (options->slabs) area_slabs_create(system.slabs = &slabs, p, 0);
    if (options->disk) system.files.disk = read_disk;
    system.files.disk_context = &clock;
    system.files.instant = options->ram_disk;
    bool done = process_create(&process, &system, options->root_order, 0) == PHYS_GOT_FRAMES;
    if (done) {
        done = vm_replay_run(&process, text, bytes, options->events, options->decisions, options->changes, stdout, &counts, error);
        print_counts(&counts, &process);
        if (options->disk) {
            print_count("disk: reads", clock.disk.counts.reads);
            print_count(", ns", clock.now);
            fputc('\n', stderr);
        }
        process_exit(&process, 0);
    } else {
        error_asked(error, "a process");
        error_found(error, "physical memory has no frame for its root table");
        error_remedy(error, "start with more free memory");
    }
    if (options->slabs) {
        print_slabs(&slabs);
        area_slabs_destroy(&slabs);
    }
    vm_destroy(&system);
    disk_destroy(&clock.disk);
    free(text);
    return done;
}

int main(int count, char **arguments) {
    struct vm_options options;
    struct error error;
    struct phys p;
    int status = 1;
    bool ready = vm_options_parse(&options, count, arguments, &error);
    if (ready && !options.help) ready = machine_create(&p, &options.machine, &error);
    if (!ready) {
        error_print(&error, "tessera-vm", stderr);
        return 2;
    }
    if (options.help) return fputs(vm_options_help, stdout) < 0;
    vm_options_settle(&options, &p);
    const bool done = replay(&p, &options, &status, &error);
    phys_destroy(&p);
    if (!done) error_print(&error, "tessera-vm", stderr);
    return done ? 0 : status;
}
