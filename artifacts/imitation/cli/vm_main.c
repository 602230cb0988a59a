// tessera-vm: replays the memory calls and accesses of one program on an imitation of Linux 6.12's virtual memory.
#include <inttypes.h>
#include <stdlib.h>

#include "cli/machine.h"
#include "cli/vm_options.h"
#include "cli/vm_replay.h"

static void print_count(const char *name, uint64_t count) {
    fprintf(stderr, "%s %" PRIu64, name, count);
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
    print_count(", copies of zero pages", counts->faults[FAULT_COPY][0]);
    print_count("; 2MB pages", of->thp_fault_alloc);
    print_count(", 2MB of zeros", counts->faults[FAULT_ZERO][1]);
    print_count(", fallbacks", of->thp_fault_fallback);
    print_count(", asked for compaction", counts->compactions);
    print_count("\ntables", tables[0] + tables[1] + tables[2] + tables[3]);
    print_count(", deposited", process->pt.deposited);
    print_count("; collapsed", counts->collapsed);
    print_count(", split", of->thp_split_pmd);
    print_count("; bad accesses", counts->faults[FAULT_BAD_ACCESS][0]);
    print_count(", not modelled", counts->faults[FAULT_NOT_MODELLED][0]);
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
    vm_create(&system, p, &options->thp);
    bool done = process_create(&process, &system, options->root_order, 0) == PHYS_GOT_FRAMES;
    if (done) {
        done = vm_replay_run(&process, text, bytes, options->events, options->decisions, stdout, &counts, error);
        print_counts(&counts, &process);
        process_exit(&process, 0);
    } else {
        error_asked(error, "a process");
        error_found(error, "physical memory has no frame for its root table");
        error_remedy(error, "start with more free memory");
    }
    vm_destroy(&system);
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
