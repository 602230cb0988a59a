#include "preload/children.h"

namespace mosalloc {
namespace {

mosalloc_children* g_sums = nullptr;       // in the file; null in a process that is no child, or has no file
const mosalloc_pool_map* g_own = nullptr;
mosalloc_children g_added;                 // this process's counts that are in g_sums already, or were its parent's

constexpr uint64_t mosalloc_children::* kFields[] = {&mosalloc_children::calls,
                                                     &mosalloc_children::failed_calls,
                                                     &mosalloc_children::softened_protections,
                                                     &mosalloc_children::split_pages,
                                                     &mosalloc_children::unsplit_pages,
                                                     &mosalloc_children::ignored_advice,
                                                     &mosalloc_children::zeroed_bytes,
                                                     &mosalloc_children::refused_calls,
                                                     &mosalloc_children::forks,
                                                     &mosalloc_children::fork_copied_bytes,
                                                     &mosalloc_children::opened_bytes,
                                                     &mosalloc_children::own_huge_bytes,
                                                     &mosalloc_children::reservation_calls,
                                                     &mosalloc_children::reserved_bytes};

mosalloc_children counts_of(const mosalloc_pool_map& map) {
    mosalloc_children out = {};
    for (const mosalloc_call_count& call : map.calls) {
        out.calls += __atomic_load_n(&call.pool, __ATOMIC_RELAXED) + __atomic_load_n(&call.kernel, __ATOMIC_RELAXED);
        out.failed_calls += __atomic_load_n(&call.failed, __ATOMIC_RELAXED);
    }
    out.softened_protections = map.softened_protections;
    out.split_pages = map.split_pages;
    out.unsplit_pages = map.unsplit_pages;
    out.ignored_advice = map.ignored_advice;
    out.zeroed_bytes = map.zeroed_bytes;
    out.refused_calls = map.refused_calls;
    out.forks = map.forks;
    out.fork_copied_bytes = map.fork_copied_bytes;
    out.opened_bytes = map.opened_bytes;
    out.reservation_calls = map.reservation_calls;
    out.reserved_bytes = map.reserved_bytes;
    out.own_huge_bytes = __atomic_load_n(&map.own_huge_bytes, __ATOMIC_RELAXED);
    return out;
}

}  // namespace

void start_child(mosalloc_pool_map* of_parent, const mosalloc_pool_map* own) {
    if (of_parent != own) g_sums = &of_parent->children;  // a child of a child has the sums already
    if (g_sums == nullptr) return;
    g_own = own;
    g_added = counts_of(*own);
    __atomic_fetch_add(&g_sums->processes, 1, __ATOMIC_RELAXED);
}

/// Several threads may be here: each increase of a counter is added by exactly one of them.
void add_child_counts() {
    if (__builtin_expect(g_sums == nullptr, 1)) return;
    const mosalloc_children now = counts_of(*g_own);
    for (const auto field : kFields) {
        uint64_t before = __atomic_load_n(&(g_added.*field), __ATOMIC_RELAXED);
        while (before < now.*field)
            if (__atomic_compare_exchange_n(&(g_added.*field), &before, now.*field, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
                __atomic_fetch_add(&(g_sums->*field), now.*field - before, __ATOMIC_RELAXED);
                break;
            }
    }
}

}  // namespace mosalloc
