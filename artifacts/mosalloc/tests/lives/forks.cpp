// forks.cpp - children that check everything, change their copies, make calls and fork again.
#include <csignal>
#include <cstdlib>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "children.h"
#include "events.h"
#include "signals.h"

namespace lives {
namespace {

bool is_copied(const differential::PageState& page) {
    return page.kind == differential::kPrivate || page.kind == differential::kFilePrivate;
}

void change_own_copy(Self& s) {
    for (differential::Area& area : s.t.areas)
        for (unsigned i = 0; i < area.pages; ++i)
            if (area.page[i].touched && is_copied(area.page[i])) differential::write_one(s.t, area, i);
}

/// Memory that no other process can change, so the parent may go on while it is read.
void check_private(Self& s) {
    for (const differential::Area& area : s.t.areas)
        for (unsigned i = 0; i < area.pages; ++i)
            if (area.page[i].touched && area.page[i].kind == differential::kPrivate) differential::check_page(s.t, area, i);
}

[[noreturn]] void child(Self& s, const Child& here, uint64_t count) {
    const uint64_t before = s.t.log.operations();
    become_child(s);
    check_all(s);
    s.t.log.begin("child_changes");
    change_own_copy(s);
    s.t.log.end();
    live(s, count);
    check_all(s);
    s.t.log.result("handler_faults", handler_faults());
    here.answer({s.t.log.digest(), s.t.log.operations() - before});
    if (s.t.random.one_in(8)) raise(SIGKILL);
    _exit(static_cast<int>(s.t.random.below(256)));
}

[[noreturn]] void child_beside(Self& s, const Child& here) {
    become_child(s);
    s.t.log.open(false, 0);  // its lines would mix with its parent's
    s.t.log.begin("beside");
    for (unsigned round = 0; round < 3; ++round) {
        check_private(s);
        for (differential::Area& area : s.t.areas)
            for (unsigned i = 0; i < area.pages; ++i)
                if (area.page[i].touched && area.page[i].kind == differential::kPrivate) differential::write_one(s.t, area, i);
    }
    check_private(s);
    here.answer({s.t.log.digest(), 0});
    _exit(static_cast<int>(s.t.random.below(256)));
}

/// Not while another thread moves the break or has a hole: the child would inherit that.
pid_t fork_between_calls(Self& s) {
    const Maps maps(s.t, Maps::shared);
    const pid_t pid = fork();
    return pid;
}

}  // namespace

void event_fork(Self& s) {
    if (s.depth >= kMaxDepth) return;
    s.t.log.begin("fork");
    s.t.log.end();
    const uint64_t count = 20 + s.t.random.below(40);
    Child one(s);
    const pid_t pid = fork_between_calls(s);
    if (pid == 0) child(s, one, count);
    one.collect("fork_ended", pid);
    check_all(s);
}

void event_fork_beside(Self& s) {
    if (s.beside != 0) return end_beside(s);
    if (s.depth != 0 || s.t.index != 0) return;  // a family's huge pages are counted: see cases.py
    s.t.log.begin("fork_beside");
    s.t.log.end();
    Child one(s);
    const pid_t pid = fork_between_calls(s);
    if (pid == 0) child_beside(s, one);
    s.beside = pid;
    s.beside_answer = one.keep();
}

void end_beside(Self& s) {
    if (s.beside == 0) return;
    collect(s, "beside_ended", s.beside, s.beside_answer);
    s.beside = 0;
    s.beside_answer = -1;
}

}  // namespace lives
