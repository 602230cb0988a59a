#include "children.h"

#include <cstdio>
#include <fcntl.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pins.h"
#include "signals.h"

namespace lives {
namespace {

pthread_mutex_t g_one = PTHREAD_MUTEX_INITIALIZER;

}  // namespace

Child::Child(Self& s) : s_(s) {
    pthread_mutex_lock(&g_one);
    if (pipe2(pipe_, O_CLOEXEC) != 0) _exit(3);
}

Child::~Child() {
    for (const int end : pipe_)
        if (end >= 0) close(end);
    pthread_mutex_unlock(&g_one);
}

void Child::answer(const Answer& answer) const {
    if (write(pipe_[1], &answer, sizeof answer) != sizeof answer) _exit(3);
}

void Child::collect(const char* what, pid_t pid) {
    close(pipe_[1]);
    lives::collect(s_, what, pid, pipe_[0]);
    pipe_[0] = pipe_[1] = -1;
}

int Child::keep() {
    const int kept = pipe_[0];
    pipe_[0] = -1;
    return kept;
}

void collect(Self& s, const char* what, pid_t pid, int answer) {
    Answer got = {0, 0};
    const bool whole = read(answer, &got, sizeof got) == sizeof got;
    close(answer);
    int status = 0;
    const bool ended = waitpid(pid, &status, 0) == pid;
    s.t.log.begin(what);
    s.t.log.result("ended", ended);
    s.t.log.result("status", static_cast<uint64_t>(status));
    s.t.log.result("whole", whole);
    s.t.log.result("digest", got.digest);
    s.t.log.add_operations(got.operations);
    s.t.log.end();
}

void become_child(Self& s) {
    pthread_mutex_init(&g_one, nullptr);
    Maps::reset();
    s.t.log.mark_child();
    s.t.alone = true;  // fork copies one thread only
    ++s.depth;
    s.beside = 0;
    if (s.beside_answer >= 0) close(s.beside_answer);
    s.beside_answer = -1;
    leave_ring(s);
    if (s.features.timers) start_timer();
}

}  // namespace lives
