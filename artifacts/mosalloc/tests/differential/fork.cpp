// fork.cpp - a child reads the parent's memory, changes its own copy, and then makes calls like any program.
#include <sys/wait.h>
#include <unistd.h>

#include "access.h"
#include "operations.h"

namespace differential {
namespace {

bool is_copied(const PageState& page) { return page.kind == kPrivate || page.kind == kFilePrivate; }

void change_own_copy(Thread& t) {
    for (Area& area : t.areas)
        for (unsigned i = 0; i < area.pages; ++i)
            if (area.page[i].touched && is_copied(area.page[i])) write_one(t, area, i);
}

[[noreturn]] void child(Thread& t, int answer) {
    t.log.mark_child();
    t.alone = true;  // fork copies one thread only
    Options here = *t.options;
    here.forks = false;
    t.options = &here;
    check_everything(t);
    t.log.begin("child_changes");
    change_own_copy(t);
    t.log.end();
    run_operations(t, 40);
    check_everything(t);
    const uint64_t digest = t.log.digest();
    _exit(write(answer, &digest, sizeof digest) == sizeof digest ? 0 : 1);
}

}  // namespace

void op_fork(Thread& t) {
    if (!t.options->forks) return;
    t.log.begin("fork");
    t.log.end();
    int pipes[2];
    if (pipe(pipes) != 0) _exit(3);
    const pid_t pid = fork();
    if (pid == 0) child(t, pipes[1]);
    close(pipes[1]);
    uint64_t digest = 0;
    const ssize_t got = read(pipes[0], &digest, sizeof digest);
    close(pipes[0]);
    int status = 0;
    waitpid(pid, &status, 0);
    t.log.begin("child_ended");
    t.log.result("status", static_cast<uint64_t>(status));
    t.log.result("digest", got == sizeof digest ? digest : 0);
    t.log.end();
    check_everything(t);
}

}  // namespace differential
