#include "run/notes.h"

#include <cinttypes>
#include <cstdio>

namespace mosalloc::run {
namespace {

constexpr uint64_t kWorthALine = 1 << 20;

void note(const std::string& found, const std::string& remedy) {
    fprintf(stderr, "mosalloc-run: note: %s\n  what to do: %s\n", found.c_str(), remedy.c_str());
}

std::string in_mb(uint64_t bytes) { return std::to_string((bytes + (1 << 20) - 1) >> 20) + "MB"; }

void full_pool(const mosalloc_pool_map& map, int kind, const char* type, const char* name) {
    if (map.full_calls[kind] == 0) return;
    const mosalloc_pool& pool = map.pools[kind];
    // A request for the heap names the new break, a request for the other pool names a length.
    const uint64_t asked = map.full_largest_bytes[kind];
    const uint64_t enough = kind == MOSALLOC_POOL_HEAP ? asked : pool.used_bytes + asked;
    note("the " + std::string(name) + " pool was full " + std::to_string(map.full_calls[kind]) + " times (ENOMEM): " +
             "the largest request was " + in_mb(asked) + ", the high-water mark is " + in_mb(pool.used_bytes) + " of " + in_mb(pool.size_bytes),
         "add or change the pool's size row in the layout: " + std::string(type) + ",-1,0," + in_mb(enough));
}

}  // namespace

void print_notes(const mosalloc_pool_map& map, const Outcome& outcome) {
    full_pool(map, MOSALLOC_POOL_HEAP, "brk", "heap");
    full_pool(map, MOSALLOC_POOL_ANON, "mmap", "anonymous");
    if (map.missing_pages != 0)
        note(std::to_string(map.missing_pages) + " huge pages were missing when a window grew on demand (ENOMEM)",
             "reserve more huge pages, or omit --no-prefault to take all of them at start");
    if (map.open_holes != 0)
        note(std::to_string(map.open_holes) + " ranges stayed accessible after munmap, because the kernel allows a process "
             "only vm.max_map_count mappings: an access to freed memory does not trap there",
             "nothing, if the program is correct; or raise the limit, as root: sysctl vm.max_map_count=1048576");
    if (map.unsplit_pages != 0)
        note(std::to_string(map.unsplit_pages) + " times the library could not split a huge page, because it could not "
             "stop other threads: guard pages in these huge pages do not trap",
             "allow userfaultfd (docker: --security-opt seccomp=unconfined), or move the windows");
    if (map.refused_marks != 0)
        note(std::to_string(map.refused_marks) + " times a huge page could not keep a policy, a registration or advice for a part "
             "of itself: the call returned EINVAL",
             "align these calls to the huge page, place the windows elsewhere, or use --protections guards");
    if (map.fork_late_lock != 0 && map.forks != 0)
        note("the library could not patch fork in this libc: a fork can hang while another thread allocates",
             "report the version of glibc; programs with one thread can fork safely");
    if (!outcome.checked) return;
    const Outside& outside = outcome.outside;
    if (outside.second_libc)
        note("the program loaded a second libc (dlmopen): the library does not see its memory calls",
             "nothing, if the program seldom uses that copy");
    if (outside.unseen_bytes + outside.kernel_heap_bytes >= kWorthALine)
        note(in_mb(outside.unseen_bytes + outside.kernel_heap_bytes) + " of memory were allocated without the library: by raw system "
             "calls (for example Go's runtime), the dynamic linker, a second libc, or constructors that ran before it",
             "nothing, if this memory may have 4KB pages; --report FILE writes the numbers");
}

}  // namespace mosalloc::run
