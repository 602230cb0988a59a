#include "events.h"

#include <cstring>

namespace lives {
namespace {

struct Event {
    const char* name;  ///< for --except
    void (*run)(Self&);
    unsigned weight;
};

constexpr Event kEvents[] = {
    {"fork", event_fork, 8},
    {"fork_beside", event_fork_beside, 6},
    {"program", event_program, 3},
    {"raw_clone", event_raw_clone, 4},
    {"tasks", event_tasks, 4},
    {"pin", event_pin, 24},
    {"direct", event_direct, 8},
    {"aio", event_aio, 8},
    {"coroutine", event_coroutine, 12},
    {"own_stack", event_own_stack, 6},
    {"policy", event_policy, 10},
    {"registration", event_registration, 10},
    {"name", event_name, 6},
    {"signal", event_signal, 12},
    {"refusal", event_refusal, 10},
};
constexpr unsigned kEventEvery = 25;

constexpr unsigned total_weight() {
    unsigned sum = 0;
    for (const Event& event : kEvents) sum += event.weight;
    return sum;
}

void any_event(Self& s) {
    unsigned pick = s.t.random.below(total_weight());
    const Event* event = kEvents;
    while (pick >= event->weight) pick -= event++->weight;
    for (unsigned i = 0; i < s.options->left_out; ++i)
        if (strcmp(event->name, s.options->except[i]) == 0) return;
    event->run(s);
}

}  // namespace

void live(Self& s, uint64_t count) {
    for (uint64_t i = 0; i < count; ++i) {
        if (s.t.random.one_in(kEventEvery)) any_event(s);
        differential::run_operations(s.t, 1);
    }
}

void check_all(Self& s) {
    differential::check_everything(s.t);
    check_pinned(s);
}

}  // namespace lives
