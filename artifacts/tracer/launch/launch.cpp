// launch.cpp - preloaded into a script's shell. When the script starts the target, this library starts it under QEMU with
// the tracing plugin. The shell and all other programs run natively, so pre- and post-processing run at full speed.
//
// It wraps every libc function that executes a program. It does not see programs that make the system call themselves,
// nor static shells; then there is no recording, and `tessera trace record` reports an error.
#include <dlfcn.h>
#include <spawn.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdlib>

#include "claim.h"

#define TESSERA_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

using tessera::launch::found_on_path;
using tessera::launch::instead_of;
using tessera::launch::without_preload;

template <typename Function>
Function* next(const char* name) {
    return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

int start(char** words, char* const environment[]) {
    const char* qemu = found_on_path(words[0]);
    return next<int(const char*, char* const[], char* const[])>("execve")(qemu ? qemu : words[0], words, without_preload(environment));
}

int execute(const char* path, char* const argv[], char* const environment[]) {
    if (char** other = instead_of(path, argv)) return start(other, environment);
    return next<int(const char*, char* const[], char* const[])>("execve")(path, argv, environment);
}

/// The arguments of an execl* call as a list; the next argument in `list` is what follows their nullptr.
char** collect(const char* first, va_list list, char* out[], int room) {
    int count = 0;
    for (char* word = const_cast<char*>(first); word && count < room - 1; word = va_arg(list, char*)) out[count++] = word;
    out[count] = nullptr;
    return out;
}

constexpr int max_words = 4096;

}  // namespace

TESSERA_EXPORT int execve(const char* path, char* const argv[], char* const environment[]) { return execute(path, argv, environment); }

TESSERA_EXPORT int execv(const char* path, char* const argv[]) { return execute(path, argv, environ); }

TESSERA_EXPORT int execvpe(const char* name, char* const argv[], char* const environment[]) {
    if (char** other = instead_of(found_on_path(name), argv)) return start(other, environment);
    return next<int(const char*, char* const[], char* const[])>("execvpe")(name, argv, environment);
}

TESSERA_EXPORT int execvp(const char* name, char* const argv[]) { return execvpe(name, argv, environ); }

TESSERA_EXPORT int execl(const char* path, const char* first, ...) {
    char* words[max_words];
    va_list list;
    va_start(list, first);
    collect(first, list, words, max_words);
    va_end(list);
    return execute(path, words, environ);
}

TESSERA_EXPORT int execlp(const char* name, const char* first, ...) {
    char* words[max_words];
    va_list list;
    va_start(list, first);
    collect(first, list, words, max_words);
    va_end(list);
    return execvpe(name, words, environ);
}

TESSERA_EXPORT int execle(const char* path, const char* first, ...) {
    char* words[max_words];
    va_list list;
    va_start(list, first);
    collect(first, list, words, max_words);
    char* const* environment = va_arg(list, char* const*);
    va_end(list);
    return execute(path, words, environment);
}

TESSERA_EXPORT int posix_spawn(pid_t* pid, const char* path, const posix_spawn_file_actions_t* actions, const posix_spawnattr_t* attributes,
                               char* const argv[], char* const environment[]) {
    const auto real = next<decltype(posix_spawn)>("posix_spawn");
    char** other = instead_of(path, argv);
    if (!other) return real(pid, path, actions, attributes, argv, environment);
    const char* qemu = found_on_path(other[0]);
    return real(pid, qemu ? qemu : other[0], actions, attributes, other, without_preload(environment));
}

TESSERA_EXPORT int posix_spawnp(pid_t* pid, const char* name, const posix_spawn_file_actions_t* actions,
                                const posix_spawnattr_t* attributes, char* const argv[], char* const environment[]) {
    const char* path = found_on_path(name);
    if (!path) return next<decltype(posix_spawnp)>("posix_spawnp")(pid, name, actions, attributes, argv, environment);
    return posix_spawn(pid, path, actions, attributes, argv, environment);
}
