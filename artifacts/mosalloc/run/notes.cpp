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
    // The break is asked as an end, memory of the other pool as a length.
    const uint64_t asked = map.full_largest_bytes[kind];
    const uint64_t enough = kind == MOSALLOC_POOL_HEAP ? asked : pool.used_bytes + asked;
    note("the " + std::string(name) + " pool was full " + std::to_string(map.full_calls[kind]) + " times (ENOMEM): " +
             in_mb(asked) + " asked at most, high-water mark " + in_mb(pool.used_bytes) + " of " + in_mb(pool.size_bytes),
         "a size row in the layout: " + std::string(type) + ",-1,0," + in_mb(enough));
}

}  // namespace

void print_notes(const mosalloc_pool_map& map, const Outcome& outcome) {
    full_pool(map, MOSALLOC_POOL_HEAP, "brk", "heap");
    full_pool(map, MOSALLOC_POOL_ANON, "mmap", "anonymous");
    if (map.missing_pages != 0)
        note(std::to_string(map.missing_pages) + " huge pages were asked on demand and not to be had (ENOMEM)",
             "reserve more, or without --no-prefault take all at start");
    if (map.unsplit_pages != 0)
        note(std::to_string(map.unsplit_pages) + " times a huge page should have been split, but other threads could not be "
             "held back: guard pages in it do not trap",
             "allow userfaultfd (docker: --security-opt seccomp=unconfined), or move the windows");
    if (map.fork_late_lock != 0 && map.forks != 0)
        note("this libc's fork could not be entered: a fork while another thread allocates can hang",
             "report the version of glibc; programs that fork with one thread are safe");
    if (!outcome.checked) return;
    const Outside& outside = outcome.outside;
    if (outside.second_libc)
        note("the program loaded a second libc (dlmopen): its memory calls were not seen", "nothing, if that copy is not hot");
    if (outside.unseen_bytes + outside.kernel_heap_bytes >= kWorthALine)
        note(in_mb(outside.unseen_bytes + outside.kernel_heap_bytes) + " of memory came past the library: raw system "
             "calls (Go's runtime, for one), the dynamic linker, a second libc, or constructors that ran before",
             "this memory has 4KB pages; --report has the numbers");
}

}  // namespace mosalloc::run
