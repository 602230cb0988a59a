// lives SEED OPERATIONS THREADS [options] - one life; prints a digest of all results that a program can see.
//
// OPERATIONS is the sum over its threads. Events, children and new programs come on top, and count in the output.
// compare.py runs lives with and without the library and compares.
#include <cinttypes>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "access.h"
#include "events.h"
#include "file.h"
#include "options.h"
#include "pins.h"
#include "signals.h"

namespace {

using lives::Options;
using lives::Self;

Self g_selves[lives::kMaxThreads];
lives::Pinned g_pinned[lives::kMaxThreads];
pthread_barrier_t g_start;  // a stack of a thread that starts late could fall into a hole of another one

/// As docker's default filter does; the library then cannot hold other threads' writes. The device works, too.
void deny_userfaultfd() {
    constexpr uint32_t kNewDescriptor = 0xaa00;  // USERFAULTFD_IOC_NEW
    sock_filter code[] = {
        {BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, nr)},
        {BPF_JMP | BPF_JEQ | BPF_K, 3, 0, SYS_userfaultfd},
        {BPF_JMP | BPF_JEQ | BPF_K, 0, 3, SYS_ioctl},
        {BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, args[1])},
        {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, kNewDescriptor},
        {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | 1 /* EPERM */},
        {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW},
    };
    const sock_fprog program = {sizeof code / sizeof code[0], code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
        perror("lives: a seccomp filter");
        exit(3);
    }
}

/// False in containers: then all lives are as those that deny it.
bool has_userfaultfd() {
    long fd = syscall(SYS_userfaultfd, O_CLOEXEC);
    if (fd < 0) {
        const int device = open("/dev/userfaultfd", O_RDWR | O_CLOEXEC);
        if (device >= 0) fd = ioctl(device, 0xaa00 /* USERFAULTFD_IOC_NEW */, O_CLOEXEC);
        if (device >= 0) close(device);
    }
    if (fd >= 0) close(static_cast<int>(fd));
    return fd >= 0;
}

void* run(void* argument) {
    Self& s = *static_cast<Self*>(argument);
    if (s.features.timers) lives::start_timer();
    pthread_barrier_wait(&g_start);
    lives::live(s, s.options->operations / s.options->threads);
    lives::end_beside(s);
    lives::check_all(s);
    pthread_barrier_wait(&g_start);  // the stack of a thread that ends early could be given to a hole
    return nullptr;
}

void prepare(Self& s, const Options& options, const lives::Features& features, unsigned index) {
    s.options = &options;
    s.features = features;
    s.depth = options.depth;
    s.pinned = &g_pinned[index];
    s.t.options = &options;
    s.t.index = index;
    s.t.alone = options.threads == 1;
    s.t.random.state = options.seed * 1000003 + index;
    s.t.log.open(options.trace, options.name + index);
    differential::make_file(s.t);
}

}  // namespace

int main(int count, char** words) {
    Options options = lives::read_options(count, words);
    lives::Features features = lives::choose_features(options);
    features.denied = features.denied || !has_userfaultfd();
    // Pinned pages stay huge, and so do all without userfaultfd: nothing else can be mapped over them, or faults there.
    const bool stay_huge = options.windows && (features.pins || features.direct || features.denied);
    if (stay_huge) {
        options.foreign = options.faults = options.guards = false;
        if (options.left_out < 32) options.except[options.left_out++] = "move_onto";
    }
    if (features.denied) deny_userfaultfd();
    differential::catch_faults();
    lives::set_handlers();
    pthread_t ids[lives::kMaxThreads];
    for (unsigned i = 0; i < options.threads; ++i) prepare(g_selves[i], options, features, i);
    pthread_barrier_init(&g_start, nullptr, options.threads);
    for (unsigned i = 1; i < options.threads; ++i)
        if (pthread_create(&ids[i], nullptr, run, &g_selves[i]) != 0) exit(3);
    run(&g_selves[0]);
    uint64_t digest = lives::handler_faults(), operations = 0;
    for (unsigned i = 0; i < options.threads; ++i) {
        if (i > 0) pthread_join(ids[i], nullptr);
        digest = digest * 31 + g_selves[i].t.log.digest();
        operations += g_selves[i].t.log.operations();
    }
    const lives::Answer answer = {digest, operations};
    if (options.answer >= 0) return write(options.answer, &answer, sizeof answer) == sizeof answer ? 0 : 3;
    if (lives::handler_faults() != 0) printf("handlers found %" PRIu64 " faults\n", lives::handler_faults());
    printf("digest %016" PRIx64 " operations %" PRIu64 " threads %u\n", digest, operations, options.threads);
    return 0;
}
