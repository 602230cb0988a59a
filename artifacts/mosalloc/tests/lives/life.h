// life.h - a life: one process with 1 to 4 threads that make random memory calls, and events between them.
//
// A thread's memory is the model of the differential test (state.h); an event does what a real program does around it:
// forks, starts programs, pins pages, changes stacks, gets signals. The rules are the same: no addresses in the output,
// and only results that are the same in each run. What a life does depends only on its seed and its options, so a life
// with the library must have the digest of a life without it.
#pragma once

#include <sys/types.h>

#include "log.h"
#include "maps.h"
#include "operations.h"

namespace lives {

using differential::kPage;
using differential::Maps;
using differential::Random;
using differential::Span;
using differential::Thread;

constexpr unsigned kMaxThreads = 4, kMaxDepth = 3;

/// What the layout or the machine cannot provide is left out on both sides.
struct Options : differential::Options {
    bool pins = true;       ///< pinned pages keep huge pages from being split, so memory is softened instead
    bool direct = true;     ///< reads of a file past the page cache
    bool marks = true;      ///< policies and registrations that huge pages cannot keep return an error
    bool tasks = true;      ///< tasks that share memory and thread-local storage
    bool raw_copies = true; ///< children of a raw clone write to memory: they need huge pages of their own
    bool guards = true;     ///< accesses to guard pages
    bool timers = true;
    bool windows = false;   ///< there are huge pages: a life with pins maps no files over them
    const char* data = nullptr;  ///< a file of kDataBytes for reads past the page cache
    bool denied = false;    ///< an ancestor has denied userfaultfd
    unsigned name = 0;      ///< number of its first thread in the trace
    unsigned depth = 0;     ///< how many ancestors are lives
    unsigned word_count = 0;     ///< of `words`, the options that a new program gets too
    const char* words[48] = {};
    int answer = -1;        ///< descriptor for digest and operations; -1: standard output
};
constexpr unsigned kDataBytes = 1 << 20;

/// What one life does of the events, chosen by its seed.
struct Features {
    bool pins, direct, timers, denied;
};

struct Answer {
    uint64_t digest, operations;
};

struct Pinned;

/// One thread of a life.
struct Self {
    Thread t;
    const Options* options = nullptr;
    Features features = {};
    unsigned depth = 0;      ///< forks above this process
    pid_t beside = 0;        ///< a child that runs at the same time
    int beside_answer = -1;
    Pinned* pinned = nullptr;
};

/// Runs `count` operations with events between them.
void live(Self& s, uint64_t count);
/// All that the thread knows: areas, blocks, pinned memory.
void check_all(Self& s);

}  // namespace lives
