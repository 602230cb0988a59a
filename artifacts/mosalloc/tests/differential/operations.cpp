#include "operations.h"

#include <cstring>

#include "maps.h"

namespace differential {
namespace {

struct Operation {
    const char* name;  ///< for --except
    void (*run)(Thread&);
    unsigned weight;
    bool alone;  ///< changes what other threads' calls would meet: holes, the break
};

constexpr Operation kOperations[] = {
    {"map", op_map, 24, false},
    {"unmap", op_unmap, 6, false},
    {"trim", op_trim, 12, false},
    {"map_fixed", op_map_fixed, 24, false},
    {"no_replace", op_no_replace, 6, false},
    {"hint_taken", op_hint_taken, 6, false},
    {"write", op_write, 70, false},
    {"read", op_read, 50, false},
    {"faults", op_faults, 12, false},
    {"protect", op_protect, 24, false},
    {"advise", op_advise, 28, false},
    {"mincore", op_mincore, 10, false},
    {"msync", op_msync, 8, false},
    {"lock", op_lock, 4, false},
    {"resize", op_resize, 20, false},
    {"move_onto", op_move_onto, 16, true},
    {"keep_old", op_keep_old, 8, false},
    {"duplicate", op_duplicate, 8, false},
    {"holes", op_holes, 10, true},
    {"break", op_break, 8, true},
    {"malloc", op_malloc, 200, false},
    {"memalign", op_memalign, 30, false},
    {"wrong_map", op_wrong_map, 12, false},
    {"wrong_range", op_wrong_range, 12, false},
    {"wrong_remap", op_wrong_remap, 10, false},
    {"wrong_malloc", op_wrong_malloc, 6, false},
};
constexpr unsigned kForkEvery = 4000, kCheckEvery = 1000;

constexpr unsigned total_weight() {
    unsigned sum = 0;
    for (const Operation& operation : kOperations) sum += operation.weight;
    return sum;
}

void run_one(Thread& t, const Operation& operation) {
    for (unsigned i = 0; i < t.options->left_out; ++i)
        if (strcmp(operation.name, t.options->except[i]) == 0) return;
    const Maps maps(t, operation.alone ? Maps::alone : Maps::shared);
    operation.run(t);
}

}  // namespace

void run_operations(Thread& t, uint64_t count) {
    static constexpr Operation kFork = {"fork", op_fork, 0, false}, kCheck = {"check", check_everything, 0, false};
    for (uint64_t i = 0; i < count; ++i) {
        if (t.random.one_in(kForkEvery)) run_one(t, kFork);
        if (t.random.one_in(kCheckEvery)) run_one(t, kCheck);
        unsigned pick = t.random.below(total_weight());
        const Operation* operation = kOperations;
        while (pick >= operation->weight) pick -= operation++->weight;
        run_one(t, *operation);
    }
}

}  // namespace differential
