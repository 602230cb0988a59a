// parallel.h - threads for preparing data; no region of interest uses them.
//
// `in_parallel` gives each thread its number. `claim_in_parallel` gives out the numbers of pieces of work one by one.
// What they compute must not depend on the number of threads: that is the caller's task, and its tests'.
#pragma once

#include <sched.h>

#include <atomic>
#include <cstdint>
#include <exception>
#include <thread>
#include <vector>

namespace tessera::workloads {

/// Processors that this process may use.
inline unsigned available_processors() {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) return static_cast<unsigned>(CPU_COUNT(&set));
    const unsigned all = std::thread::hardware_concurrency();  // more processors than a cpu_set_t has
    return all == 0 ? 1 : all;
}

/// Runs work(i) for each i below `threads`, each in a thread of its own; one runs in the caller's. Rethrows a failure.
template <class Work>
void in_parallel(unsigned threads, Work&& work) {
    std::vector<std::exception_ptr> failures(threads);
    const auto guarded = [&](unsigned i) {
        try {
            work(i);
        } catch (...) {
            failures[i] = std::current_exception();
        }
    };
    {
        std::vector<std::jthread> others;
        for (unsigned i = 1; i < threads; ++i) others.emplace_back(guarded, i);
        guarded(0);
    }  // joined
    for (const std::exception_ptr& failure : failures)
        if (failure) std::rethrow_exception(failure);
}

/// Runs work(i) once for each i below `pieces`, in any order. After a failure no further piece begins.
template <class Work>
void claim_in_parallel(unsigned threads, uint64_t pieces, Work&& work) {
    std::atomic<uint64_t> next{0};
    in_parallel(threads, [&](unsigned) {
        for (uint64_t piece; (piece = next.fetch_add(1)) < pieces;) {
            try {
                work(piece);
            } catch (...) {
                next = pieces;
                throw;
            }
        }
    });
}

}  // namespace tessera::workloads
