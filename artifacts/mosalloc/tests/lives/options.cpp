#include "options.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace lives {
namespace {

struct Switch {
    const char* word;
    bool Options::* value;
    bool set;
};

// The first ones are members of the differential test's options.
constexpr Switch kSwitches[] = {
    {"--no-pins", &Options::pins, false},     {"--no-direct", &Options::direct, false},         {"--no-marks", &Options::marks, false},
    {"--no-tasks", &Options::tasks, false},   {"--no-raw-copies", &Options::raw_copies, false}, {"--no-guards", &Options::guards, false},
    {"--no-timers", &Options::timers, false}, {"--windows", &Options::windows, true},
};

struct Shared {
    const char* word;
    bool differential::Options::* value;
    bool set;
};

constexpr Shared kShared[] = {
    {"--trace", &differential::Options::trace, true},
    {"--no-faults", &differential::Options::faults, false},
    {"--no-hole-faults", &differential::Options::hole_faults, false},
    {"--no-foreign", &differential::Options::foreign, false},
    {"--no-locks", &differential::Options::locks, false},
};

[[noreturn]] void usage() {
    fprintf(stderr, "usage: lives SEED OPERATIONS THREADS (1..%u) [--data=FILE] [--except=NAME]...", kMaxThreads);
    for (const Switch& s : kSwitches) fprintf(stderr, " [%s]", s.word);
    for (const Shared& s : kShared) fprintf(stderr, " [%s]", s.word);
    fprintf(stderr, "\n");
    exit(2);
}

const char* value_of(const char* word, const char* name) {
    const size_t length = strlen(name);
    return strncmp(word, name, length) == 0 ? word + length : nullptr;
}

/// Whether a new program gets the word too; it has its own of the others.
bool set(Options* o, const char* word, bool* for_programs) {
    *for_programs = true;
    for (const Switch& s : kSwitches)
        if (strcmp(word, s.word) == 0) return o->*s.value = s.set, true;
    for (const Shared& s : kShared)
        if (strcmp(word, s.word) == 0) return o->*s.value = s.set, true;
    if (const char* name = value_of(word, "--except=")) return o->left_out < 32 && (o->except[o->left_out++] = name) != nullptr;
    if (const char* file = value_of(word, "--data=")) return (o->data = file) != nullptr;
    *for_programs = false;
    if (strcmp(word, "--denied") == 0) return o->denied = true;
    if (const char* number = value_of(word, "--answer=")) return o->answer = atoi(number), true;
    if (const char* number = value_of(word, "--depth=")) return o->depth = static_cast<unsigned>(atoi(number)), true;
    if (const char* number = value_of(word, "--name=")) return o->name = static_cast<unsigned>(atoi(number)), true;
    return false;
}

}  // namespace

Options read_options(int count, char** words) {
    if (count < 4) usage();
    Options o;
    o.forks = false;  // those of the differential test; a life has its own
    uint64_t* const numbers[] = {&o.seed, &o.operations};
    for (int i = 0; i < 2; ++i) {
        char* end;
        *numbers[i] = strtoull(words[1 + i], &end, 10);
        if (*end != 0 || end == words[1 + i]) usage();
    }
    o.threads = static_cast<unsigned>(atoi(words[3]));
    if (o.threads < 1 || o.threads > kMaxThreads) usage();
    for (int i = 4; i < count; ++i) {
        bool for_programs;
        if (!set(&o, words[i], &for_programs)) usage();
        if (for_programs && o.word_count < sizeof o.words / sizeof o.words[0]) o.words[o.word_count++] = words[i];
    }
    return o;
}

Features choose_features(const Options& o) {
    Random random;
    random.state = o.seed ^ 0x11fe5;
    Features f;
    f.pins = random.one_in(3) && o.pins;
    f.direct = random.one_in(4) && o.direct;
    f.timers = !random.one_in(4) && o.timers;
    f.denied = o.denied || (random.one_in(5) && o.threads > 1);
    return f;
}

}  // namespace lives
