#include "run/notes.h"

#include <cinttypes>
#include <csignal>
#include <cstdio>
#include <sys/wait.h>

#include "run/verdict.h"

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
    if (asked == 0)
        return note("the " + std::string(name) + " pool was full " + std::to_string(map.full_calls[kind]) +
                        " times (ENOMEM), but "
                        "each request was larger than this machine's memory and swap",
                    "nothing, if the program only tested for an overflow");
    const uint64_t enough = kind == MOSALLOC_POOL_HEAP ? asked : pool.used_bytes + asked;
    note("the " + std::string(name) + " pool was full " + std::to_string(map.full_calls[kind]) +
             " times (ENOMEM): " + "the largest request was " + in_mb(asked) + ", the high-water mark is " + in_mb(pool.used_bytes) +
             " of " + in_mb(pool.size_bytes),
         "add or change the pool's size row in the layout: " + std::string(type) + ",-1,0," + in_mb(enough));
}

/// The kinds of pins in words (enum mosalloc_pin).
std::string pins(uint64_t kinds) {
    static const struct {
        uint64_t kind;
        const char* name;
    } kNames[] = {{MOSALLOC_PIN_MEMORY, "pinned memory (VmPin: RDMA, VFIO, registered buffers)"},
                  {MOSALLOC_PIN_IO_URING, "an io_uring"},
                  {MOSALLOC_PIN_AIO, "a context of Linux AIO"},
                  {MOSALLOC_PIN_DIRECT, "a file with O_DIRECT beside other threads"}};
    std::string out;
    for (const auto& row : kNames)
        if ((kinds & row.kind) != 0) out += (out.empty() ? "" : ", ") + std::string(row.name);
    return out;
}

/// Each reason has its own remedy.
void unsplit(const mosalloc_pool_map& map) {
    const std::string rest = ": guard pages in these huge pages do not trap";
    if (const uint64_t count = map.unsplit_by[MOSALLOC_UNSPLIT_NO_GATE])
        note(std::to_string(count) +
                 " times the library could not split a huge page, because it could not stop the writes of "
                 "other threads (userfaultfd is denied or in use)" +
                 rest,
             "allow userfaultfd (docker: --security-opt seccomp=unconfined), or move the windows");
    if (const uint64_t count = map.unsplit_by[MOSALLOC_UNSPLIT_PINNED])
        note(std::to_string(count) +
                 " times the library did not split a huge page, because a device or the kernel may write "
                 "to it: the program has " +
                 pins(map.pin_kinds) + rest,
             "nothing, if the program does not rely on these guard pages; or move the windows");
    if (const uint64_t count = map.unsplit_by[MOSALLOC_UNSPLIT_KERNEL])
        note(std::to_string(count) + " times the kernel did not give 4KB pages for a split (no memory, or too many mappings)" + rest,
             "free memory, or raise the limit, as root: sysctl vm.max_map_count=1048576; or move the windows");
    const uint64_t *by = map.unsplit_by, known = by[0] + by[1] + by[2];
    if (map.unsplit_pages > known)
        note(std::to_string(map.unsplit_pages - known) + " times the library could not split a huge page" + rest, "move the windows");
}

}  // namespace

void print_notes(const Options& options, const mosalloc_pool_map& map, const Outcome& outcome) {
    const uint64_t used = map.pools[MOSALLOC_POOL_HEAP].used_bytes + map.pools[MOSALLOC_POOL_ANON].used_bytes;
    if (options.target.empty() && outcome.checked && map.other_programs != 0 && used < kWorthALine)
        note("the program that got the layout used " + std::to_string(used >> 10) + "KB of its pools; it started other programs, " +
                 std::to_string(map.other_programs) + " in all, the first is " + other_program(map),
             "if that program is the one that needs the layout, name it: --target " + other_program(map));
    full_pool(map, MOSALLOC_POOL_HEAP, "brk", "heap");
    full_pool(map, MOSALLOC_POOL_ANON, "mmap", "anonymous");
    if (!outcome.removed_tunables.empty())
        note("the program ran without " + outcome.removed_tunables +
                 " of GLIBC_TUNABLES: malloc would take huge pages that the layout does not have",
             "nothing; the layout says where huge pages are");
    if (const uint64_t calls = map.reservation_calls + map.children.reservation_calls; calls != 0 && right_pages(outcome))
        note(std::to_string(calls) + " reservations without access (PROT_NONE), up to " +
                 in_mb(map.reserved_bytes + map.children.reserved_bytes) + " at a time, have no room in the anonymous pool of " +
                 in_mb(map.pools[MOSALLOC_POOL_ANON].size_bytes) + " and lie outside it, with 4KB pages; the program uses " +
                 in_mb(map.opened_bytes + map.children.opened_bytes) + " of them",
             "if they should have the layout, change the pool's size row: " + row_with_reservations(map));
    if (map.missing_pages != 0)
        note(std::to_string(map.missing_pages) + " huge pages were missing when a window grew on demand (ENOMEM)",
             "reserve more huge pages, or omit --no-prefault to take all of them at start");
    if (map.hinted_bytes >= kWorthALine)
        note(in_mb(map.hinted_bytes) + " of anonymous memory lie outside the pools, because the program asked for an address",
             "if they should have the layout, and the program accepts any address: --hints pool");
    if (map.open_holes != 0)
        note(std::to_string(map.open_holes) +
                 " ranges stayed accessible after munmap, because the kernel allows a process "
                 "only vm.max_map_count mappings: an access to freed memory does not trap there",
             "nothing, if the program is correct; or raise the limit, as root: sysctl vm.max_map_count=1048576");
    if (WIFSIGNALED(outcome.wait_status) && WTERMSIG(outcome.wait_status) == SIGSYS)
        note("the program was killed by SIGSYS: its seccomp filter forbids a system call, maybe one that only the library makes",
             "allow the calls that artifacts/mosalloc/README.md lists under System calls; run it without the library to compare");
    unsplit(map);
    if (map.stolen_locks != 0)
        note(std::to_string(map.stolen_locks) +
                 " times a task was killed inside the library, and the next one took its lock: "
                 "the tables of the pools may be incomplete",
             "end the whole process with SIGKILL, not single tasks");
    if (map.refused_marks != 0)
        note(std::to_string(map.refused_marks) +
                 " times a huge page could not keep a policy, a registration or advice for a part "
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
        note(in_mb(outside.unseen_bytes + outside.kernel_heap_bytes) +
                 " of memory were allocated without the library: by raw system "
                 "calls (for example Go's runtime), the dynamic linker, a second libc, or constructors that ran before it",
             "nothing, if this memory may have 4KB pages; --report FILE writes the numbers");
}

}  // namespace mosalloc::run
