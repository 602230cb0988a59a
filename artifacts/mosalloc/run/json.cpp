#include "run/json.h"

#include <cinttypes>
#include <initializer_list>

namespace mosalloc::run {
namespace {

constexpr const char* kCalls[MOSALLOC_CALL_COUNT] = {"mmap",  "munmap", "mprotect", "madvise", "mremap", "brk",           "sbrk",
                                                     "mlock", "mlock2", "munlock",  "mincore", "msync",  "posix_madvise", "pkey_mprotect"};

void write_pool(FILE* file, const char* name, const mosalloc_pool& p) {
    fprintf(file,
            "{\"type\": \"%s\", \"base\": %" PRIu64 ", \"size_bytes\": %" PRIu64 ", \"used_bytes\": %" PRIu64 ", \"live_bytes\": %" PRIu64
            ", \"calls\": %" PRIu64 "}",
            name, p.base, p.size_bytes, p.used_bytes, p.live_bytes, p.calls);
}

struct Count {
    const char* name;
    uint64_t value;
};

/// A member whose value is an object of counts.
void write_counts(FILE* file, const char* name, std::initializer_list<Count> counts) {
    fprintf(file, "  \"%s\": {", name);
    const char* separator = "";
    for (const Count& count : counts) {
        fprintf(file, "%s\"%s\": %" PRIu64, separator, count.name, count.value);
        separator = ", ";
    }
    fputs("},\n", file);
}

}  // namespace

void write_pools(FILE* file, const mosalloc_pool_map& map) {
    fputs("  \"pools\": [\n    ", file);
    write_pool(file, "brk", map.pools[MOSALLOC_POOL_HEAP]);
    fputs(",\n    ", file);
    write_pool(file, "mmap", map.pools[MOSALLOC_POOL_ANON]);
    fputs("\n  ],\n  \"file_pool\": ", file);
    write_pool(file, "file", map.file_pool);
    fputs(",\n", file);
}

void write_calls(FILE* file, const mosalloc_pool_map& map) {
    fputs("  \"calls\": {", file);
    const char* separator = "";
    for (int i = 0; i < MOSALLOC_CALL_COUNT; ++i) {
        const mosalloc_call_count& c = map.calls[i];
        if (c.pool + c.kernel == 0) continue;
        fprintf(file, "%s\n    \"%s\": {\"pool\": %" PRIu64 ", \"kernel\": %" PRIu64 ", \"failed\": %" PRIu64 "}", separator, kCalls[i],
                c.pool, c.kernel, c.failed);
        separator = ",";
    }
    fputs("\n  },\n", file);
}

void write_counters(FILE* file, const mosalloc_pool_map& map) {
    const uint64_t full = map.full_calls[MOSALLOC_POOL_HEAP] + map.full_calls[MOSALLOC_POOL_ANON];
    const uint64_t *largest = map.full_largest_bytes, heap = largest[MOSALLOC_POOL_HEAP], anon = largest[MOSALLOC_POOL_ANON];
    write_counts(file, "counters",
                 {{"passed_through", map.passed_through},
                  {"softened_protections", map.softened_protections},
                  {"split_pages", map.split_pages},
                  {"unsplit_pages", map.unsplit_pages},
                  {"ignored_advice", map.ignored_advice},
                  {"zeroed_bytes", map.zeroed_bytes},
                  {"refused_calls", map.refused_calls},
                  {"ended_marks", map.ended_marks},
                  {"refused_marks", map.refused_marks},
                  {"forks", map.forks},
                  {"fork_risks", map.fork_risks},
                  {"fork_late_lock", map.fork_late_lock},
                  {"fork_copied_bytes", map.fork_copied_bytes},
                  {"fallback_windows", map.fallback_windows},
                  {"missing_pages", map.missing_pages},
                  {"open_holes", map.open_holes},
                  {"hinted_bytes", map.hinted_bytes},
                  {"pool_full_calls", full},
                  {"largest_refused_bytes", heap > anon ? heap : anon},
                  {"unsplit_no_gate", map.unsplit_by[MOSALLOC_UNSPLIT_NO_GATE]},
                  {"unsplit_pinned", map.unsplit_by[MOSALLOC_UNSPLIT_PINNED]},
                  {"unsplit_kernel", map.unsplit_by[MOSALLOC_UNSPLIT_KERNEL]},
                  {"pin_kinds", map.pin_kinds},
                  {"exchanged_pages", map.exchanged_pages},
                  {"copied_forks", map.copied_forks},
                  {"stolen_locks", map.stolen_locks},
                  {"reservation_calls", map.reservation_calls},
                  {"reserved_bytes", map.reserved_bytes},
                  {"opened_bytes", map.opened_bytes},
                  {"own_huge_bytes", map.own_huge_bytes},
                  {"other_programs", map.other_programs},
                  {"file_pool_full_calls", map.full_calls[MOSALLOC_POOL_FILE]}});
}

void write_children(FILE* file, const mosalloc_children& c) {
    write_counts(file, "children",
                 {{"processes", c.processes},
                  {"calls", c.calls},
                  {"failed_calls", c.failed_calls},
                  {"softened_protections", c.softened_protections},
                  {"split_pages", c.split_pages},
                  {"unsplit_pages", c.unsplit_pages},
                  {"ignored_advice", c.ignored_advice},
                  {"zeroed_bytes", c.zeroed_bytes},
                  {"refused_calls", c.refused_calls},
                  {"forks", c.forks},
                  {"fork_copied_bytes", c.fork_copied_bytes},
                  {"opened_bytes", c.opened_bytes},
                  {"own_huge_bytes", c.own_huge_bytes},
                  {"reservation_calls", c.reservation_calls},
                  {"reserved_bytes", c.reserved_bytes}});
}

void write_outside(FILE* file, const Outside& o) {
    fprintf(file,
            "  \"outside\": {\"kernel_heap_bytes\": %" PRIu64 ", \"stack_bytes\": %" PRIu64 ", \"anonymous_bytes\": %" PRIu64
            ", \"unseen_bytes\": %" PRIu64 ", \"second_libc\": %s},\n",
            o.kernel_heap_bytes, o.stack_bytes, o.anonymous_bytes, o.unseen_bytes, o.second_libc ? "true" : "false");
}

}  // namespace mosalloc::run
