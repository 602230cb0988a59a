// forks.cpp - fork with pools.
//
// The kernel copies 4KB parts on write, like any memory. It also copies windows on write, but each copy needs a free
// huge page that is not reserved for the child. If there is none and the parent writes, the kernel takes the page away
// from the child, and the child dies with SIGBUS at its next access, even a read. So if too few huge pages are free,
// or if they are 1GB pages, the child gets copies of the windows in 4KB pages (core/exchange.h). The parent keeps
// its huge pages.
//
// libc's fork first takes the locks of malloc and then calls _Fork; we take our lock at that call. A fork handler would
// take our lock before malloc's locks, but other threads take it while they hold malloc's locks: a deadlock.
#include "preload/forks.h"

#include <asm/prctl.h>
#include <cerrno>
#include <pthread.h>

#include "core/alone.h"
#include "core/sys.h"
#include "core/table.h"
#include "core/text.h"
#include "core/write_gate.h"
#include "preload/children.h"
#include "preload/hooks.h"
#include "preload/hugepages.h"
#include "preload/map_file.h"
#include "preload/other_libc.h"

namespace mosalloc {
namespace {

/// A word that reads zero in a forked child (MADV_WIPEONFORK); null if the kernel or QEMU does not support that.
volatile uint64_t* g_same_process = nullptr;

// Between the two halves of one fork, while it holds the lock.
bool g_copied = false;
WriteGate g_gate;

/// Counts the huge pages in use, which are the pages that a child may have to copy.
uint64_t pages_in_use(uint64_t wanted_page_bytes) {
    uint64_t pages = 0;
    for (uint64_t kind = 0; kind < MOSALLOC_POOL_COUNT; ++kind)
        runtime().space.pool(kind).huge().for_each_used_page(
            [&](Range, uint64_t page_bytes) { pages += page_bytes == wanted_page_bytes ? 1 : 0; });
    return pages;
}

/// Never for 1GB pages. On Linux 6.18 a child read zeros from a 1GB page that its parent had written, also without this
/// library. Besides, a copy of 1GB for one write is too slow to be useful.
bool can_share_huge_pages() {
    const uint64_t needed = pages_in_use(kPage2M);
    return pages_in_use(kPage1G) == 0 && (needed == 0 || huge_pages(kPage2M).free >= needed);
}

/// The kernel and libc write to the caller's stack and thread-local storage during the fork, in the parent and in the
/// child: they must not lie in a window that is gated and replaced.
bool leave_windows() {
    constexpr uint64_t kStatic = 64 << 10;  // thread-local storage below the thread pointer, the thread's record above it
    uint64_t thread = 0;
    sys::call(SYS_arch_prctl, ARCH_GET_FS, reinterpret_cast<long>(&thread));
    const uint64_t stack = reinterpret_cast<uint64_t>(__builtin_frame_address(0));
    const Range needed[] = {{align_down(stack - kStatic, kPage4K), align_up(stack + 1, kPage4K)},
                            {align_down(thread - kStatic, kPage4K), align_up(thread + kPage4K, kPage4K)}};
    for (const Range& range : needed)
        for (uint64_t kind = 0; kind < MOSALLOC_POOL_COUNT; ++kind) {
            Pool& pool = runtime().space.pool(kind);
            if (!range.overlaps(pool.span())) continue;
            if (sys::failed(pool.exchange().split(pool.offsets(range.clip(pool.span()))))) return false;
        }
    return true;
}

uint64_t bytes_in_use() { return kPage2M * pages_in_use(kPage2M) + kPage1G * pages_in_use(kPage1G); }

void count_risk() {
    if (runtime().map->fork_risks++ != 0) return;
    char line[320];
    Text text(line);
    text.add("mosalloc: fork: the child may need ")
        .number(pages_in_use(kPage2M))
        .add(" pages of 2MB and ")
        .number(pages_in_use(kPage1G))
        .add(
            " of 1GB, fewer are free, and the library could not copy them to 4KB pages\n"
            "  what to do: if the child dies with SIGBUS, reserve that many more pages, or allow userfaultfd\n");
    sys::write(2, line, text.length());
}

void drop_copies() {
    for (uint64_t kind = 0; kind < MOSALLOC_POOL_COUNT; ++kind) runtime().space.pool(kind).exchange().drop_copies(&g_gate);
    g_gate.leave();
    g_copied = false;
}

void copy_windows() {
    const bool alone = is_alone();
    bool good = leave_windows();
    const uint64_t bytes = bytes_in_use();
    g_copied = true;
    for (uint64_t kind = 0; kind < MOSALLOC_POOL_COUNT && good; ++kind) {
        long result = runtime().space.pool(kind).exchange().copy_for_child(&g_gate);
        // Without userfaultfd, the only task needs no gate.
        if (result == -EAGAIN && alone) result = runtime().space.pool(kind).exchange().copy_for_child(nullptr);
        good = !sys::failed(result);
    }
    if (good) {
        runtime().map->fork_copied_bytes += bytes;
        ++runtime().map->copied_forks;
        return;
    }
    drop_copies();
    count_risk();
}

void before_fork() {
    runtime().lock.acquire();
    ++runtime().map->forks;
    g_copied = false;
    if (runtime().map->window_count != 0 && !can_share_huge_pages()) copy_windows();
}

void after_in_parent() {
    if (g_copied) drop_copies();
    runtime().space.publish();
    add_child_counts();
    runtime().lock.release();
}

void adopt_process() {
    Runtime& here = runtime();
    mosalloc_pool_map* const of_parent = here.map;
    here.map = private_copy(of_parent);
    here.space.set_map(here.map);
    here.outside.set_map(here.map);
    here.reservations.set_map(here.map);
    here.space.publish();
    start_child(of_parent, here.map);
    if (g_same_process != nullptr) *g_same_process = 1;
}

/// Prints the reason and kills the process. The kernel does the same, without a message, if copy on write finds no memory.
[[noreturn]] void die(const char* reason) {
    char line[160];
    Text text(line);
    text.add("mosalloc: forked child: ").add(reason).add("; the child is killed\n");
    sys::write(2, line, text.length());
    constexpr int kKill = 9;
    for (;;) sys::call(SYS_kill, sys::getpid(), kKill);
}

void after_in_child() {
    runtime().lock.adopt();
    adopt_process();
    for (uint64_t kind = 0; kind < MOSALLOC_POOL_COUNT && g_copied; ++kind)
        if (sys::failed(runtime().space.pool(kind).exchange().take_copies())) die("its memory could not be moved into place");
    if (g_copied) g_gate.leave();  // the child's copy of the descriptor
    g_copied = false;
    runtime().space.adopt_child();
    runtime().lock.release();
}

/// Replaces libc's _Fork inside fork.
pid_t (*g_fork)() = nullptr;
pid_t fork_under_lock() {
    before_fork();
    const pid_t child = g_fork();
    if (child == 0) after_in_child();
    else after_in_parent();
    return child;
}

}  // namespace

void watch_forks() {
    const auto at = reinterpret_cast<uint64_t>(make_table(kPage4K));
    if (at != 0 && !sys::failed(sys::madvise(at, kPage4K, MADV_WIPEONFORK))) {
        g_same_process = reinterpret_cast<volatile uint64_t*>(at);
        *g_same_process = 1;
    }
    void* original = nullptr;
    if (redirect_calls("fork", "_Fork", reinterpret_cast<void*>(fork_under_lock), &original)) {
        g_fork = reinterpret_cast<pid_t (*)()>(original);
    } else {  // another libc: correct only if no other thread allocates during the fork
        runtime().map->fork_late_lock = 1;
        __register_atfork(before_fork, after_in_parent, after_in_child, &__dso_handle);
    }
}

bool is_new_process() { return g_same_process != nullptr && *g_same_process == 0; }

Entry::Entry() {
    if (is_new_process() && !runtime().lock.is_mine()) {
        runtime().lock.reset();
        adopt_process();
    }
    runtime().lock.acquire();
    runtime().map->stolen_locks = runtime().lock.stolen();
}

Entry::~Entry() { runtime().lock.release(); }

}  // namespace mosalloc
