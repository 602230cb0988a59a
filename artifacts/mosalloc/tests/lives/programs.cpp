// programs.cpp - starts itself with another seed: a new program under the same library, from vfork, posix_spawn and fork.
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include "children.h"
#include "events.h"

extern char** environ;

namespace lives {
namespace {

constexpr unsigned kWords = 64, kEnvironment = 512;

/// The arguments of the new life. On the stack, since a thread that vforks lends its memory.
struct Command {
    char text[6][64];
    char* words[kWords];
    char map[256], layout[256];
    char* environment[kEnvironment];
};

void add(Command* c, unsigned* at, const char* word) {
    if (*at < kWords - 1) c->words[(*at)++] = const_cast<char*>(word);
}

void write_words(Command* c, Self& s, int answer) {
    const Options& o = *s.options;
    unsigned n = 0;
    snprintf(c->text[0], 64, "%" PRIu64, s.t.random.next() >> 16);
    snprintf(c->text[1], 64, "%u", 60 + s.t.random.below(100));
    snprintf(c->text[2], 64, "%u", 1 + s.t.random.below(2));
    snprintf(c->text[3], 64, "--answer=%d", answer);
    snprintf(c->text[4], 64, "--depth=%u", s.depth + 1);
    snprintf(c->text[5], 64, "--name=%u", (o.name + s.t.index + 1) * 10);
    add(c, &n, "lives");
    for (unsigned i = 0; i < 6; ++i) add(c, &n, c->text[i]);
    if (s.features.denied) add(c, &n, "--denied");
    for (unsigned i = 0; i < o.word_count; ++i) add(c, &n, o.words[i]);
    c->words[n] = nullptr;
}

/// A new program writes its own map, and has the layout for children if there is one: huge pages may be too few.
void write_environment(Command* c) {
    static unsigned g_programs = 0;
    const char *maps = getenv("LIVES_MAPS"), *layout = getenv("LIVES_CHILD_LAYOUT");
    const unsigned number = __atomic_add_fetch(&g_programs, 1, __ATOMIC_RELAXED);
    snprintf(c->map, sizeof c->map, "MOSALLOC_POOL_MAP=%s/%d-%u", maps != nullptr ? maps : "", getpid(), number);
    snprintf(c->layout, sizeof c->layout, "MOSALLOC_LAYOUT=%s", layout != nullptr ? layout : "");
    unsigned n = 0;
    for (char** e = environ; *e != nullptr && n < kEnvironment - 1; ++e) {
        const bool is_map = strncmp(*e, "MOSALLOC_POOL_MAP=", 18) == 0 && maps != nullptr;
        const bool is_layout = strncmp(*e, "MOSALLOC_LAYOUT=", 16) == 0 && layout != nullptr;
        c->environment[n++] = is_map ? c->map : is_layout ? c->layout : *e;
    }
    c->environment[n] = nullptr;
}

/// The only descriptor that the program inherits. In the child, or before posix_spawn.
void inherit(int descriptor) { fcntl(descriptor, F_SETFD, 0); }

constexpr char kItself[] = "/proc/self/exe";

/// Not inlined: vfork returns twice in this frame.
__attribute__((noinline)) pid_t start_by_vfork(Command* c) {
    const pid_t pid = vfork();
    if (pid == 0) {
        execve(kItself, c->words, c->environment);
        _exit(127);
    }
    return pid;
}

pid_t start(Command* c, unsigned way) {
    pid_t pid = -1;
    if (way == 0) return start_by_vfork(c);
    if (way == 1) return posix_spawn(&pid, kItself, nullptr, nullptr, c->words, c->environment) == 0 ? pid : -1;
    pid = fork();
    if (pid == 0) {
        execve(kItself, c->words, c->environment);
        _exit(127);
    }
    return pid;
}

}  // namespace

void event_program(Self& s) {
    if (s.depth >= kMaxDepth) return;
    const unsigned way = s.t.random.below(3);
    s.t.log.begin("program", way);
    s.t.log.end();
    Child one(s);
    Command command;
    write_words(&command, s, one.answer_descriptor());
    write_environment(&command);
    inherit(one.answer_descriptor());
    pid_t pid;
    {
        const Maps maps(s.t, Maps::shared);  // posix_spawn maps a stack
        pid = start(&command, way);
    }
    s.t.log.begin("started");
    s.t.log.result("started", pid > 0);
    s.t.log.end();
    if (pid > 0) one.collect("program_ended", pid);
    check_all(s);
}

}  // namespace lives
