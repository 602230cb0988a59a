// differential SEED OPERATIONS THREADS [--trace] [--no-faults] [--no-forks] [--no-foreign] [--no-locks]
//     [--except=OPERATION]...
//
// Makes random memory calls through libc. Prints one digest of all results that a program can see: success or errno,
// contents, faults, alignment. The kernel is the oracle: the output must be the same with libmosalloc preloaded.
// compare.py runs both and finds the first operation that differs. OPERATIONS is the sum over all threads.
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <pthread.h>

#include "access.h"
#include "file.h"
#include "operations.h"

namespace {

using differential::Options;
using differential::Thread;

Thread g_threads[differential::kMaxThreads];
pthread_barrier_t g_start;  // a stack of a thread that starts late could fall into a hole of another one

[[noreturn]] void usage() {
    fprintf(stderr,
            "usage: differential SEED OPERATIONS THREADS (1..%u) [--trace] [--no-faults] [--no-hole-faults]"
            " [--no-forks]"
            " [--no-foreign] [--no-locks] [--except=OPERATION]...\n",
            differential::kMaxThreads);
    exit(2);
}

bool set(Options* options, const char* word) {
    if (strcmp(word, "--trace") == 0) return options->trace = true;
    if (strcmp(word, "--no-faults") == 0) return !(options->faults = false);
    if (strcmp(word, "--no-hole-faults") == 0) return !(options->hole_faults = false);
    if (strcmp(word, "--no-forks") == 0) return !(options->forks = false);
    if (strcmp(word, "--no-foreign") == 0) return !(options->foreign = false);
    if (strcmp(word, "--no-locks") == 0) return !(options->locks = false);
    if (strncmp(word, "--except=", 9) != 0 || options->left_out == 32) return false;
    options->except[options->left_out++] = word + 9;
    return true;
}

Options read_options(int count, char** words) {
    if (count < 4) usage();
    Options options;
    uint64_t* const numbers[] = {&options.seed, &options.operations};
    for (int i = 0; i < 2; ++i) {
        char* end;
        *numbers[i] = strtoull(words[1 + i], &end, 10);
        if (*end != 0 || end == words[1 + i]) usage();
    }
    options.threads = static_cast<unsigned>(atoi(words[3]));
    if (options.threads < 1 || options.threads > differential::kMaxThreads) usage();
    for (int i = 4; i < count; ++i)
        if (!set(&options, words[i])) usage();
    return options;
}

void* run(void* argument) {
    Thread& t = *static_cast<Thread*>(argument);
    pthread_barrier_wait(&g_start);
    differential::run_operations(t, t.options->operations / t.options->threads);
    differential::check_everything(t);
    return nullptr;
}

}  // namespace

int main(int count, char** words) {
    const Options options = read_options(count, words);
    differential::catch_faults();
    pthread_t ids[differential::kMaxThreads];
    for (unsigned i = 0; i < options.threads; ++i) {
        Thread& t = g_threads[i];
        t.options = &options;
        t.index = i;
        t.alone = options.threads == 1;
        t.random.state = options.seed * 1000003 + i;
        t.log.open(options.trace, i);
        differential::make_file(t);
    }
    pthread_barrier_init(&g_start, nullptr, options.threads);
    for (unsigned i = 1; i < options.threads; ++i)
        if (pthread_create(&ids[i], nullptr, run, &g_threads[i]) != 0) exit(3);
    run(&g_threads[0]);
    uint64_t digest = g_threads[0].log.digest(), operations = g_threads[0].log.operations();
    for (unsigned i = 1; i < options.threads; ++i) {
        pthread_join(ids[i], nullptr);
        digest = digest * 31 + g_threads[i].log.digest();
        operations += g_threads[i].log.operations();
    }
    printf("digest %016" PRIx64 " operations %" PRIu64 " threads %u\n", digest, operations, options.threads);
    return 0;
}
