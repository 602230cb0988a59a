// clones.cpp - children of a raw clone: no handler of libc's fork runs, as in programs that make their own system calls.
#include <csignal>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "children.h"
#include "events.h"

namespace lives {
namespace {

/// Memory calls only if no other thread could be inside the library at the time of the clone.
[[noreturn]] void child(Self& s, const Child& here, bool calls) {
    const uint64_t before = s.t.log.operations();
    const bool alone = s.t.alone;
    become_child(s);
    check_all(s);
    if (calls && alone) {
        differential::run_operations(s.t, 20);
        check_all(s);
    }
    here.answer({s.t.log.digest(), s.t.log.operations() - before});
    syscall(SYS_exit_group, 7);
    _exit(7);
}

}  // namespace

void event_raw_clone(Self& s) {
    if (s.depth >= kMaxDepth) return;
    s.t.log.begin("raw_clone");
    s.t.log.end();
    Child one(s);
    long pid;
    {
        const Maps maps(s.t, Maps::shared);
        pid = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
        if (pid == 0) child(s, one, s.options->raw_copies);
    }
    one.collect("raw_clone_ended", static_cast<pid_t>(pid));
    check_all(s);
}

}  // namespace lives
