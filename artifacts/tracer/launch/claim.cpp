#include "claim.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace tessera::launch {
namespace {

constexpr char preload[] = "LD_PRELOAD=";
constexpr char library[] = "libtessera-trace-launch.so";

/// The launch file as lines; `count` is their number. Read once: the process is about to be replaced.
char** lines_of(const char* path, size_t& count) {
    FILE* file = std::fopen(path, "re");
    if (!file) return nullptr;
    size_t room = 32;
    auto** lines = static_cast<char**>(std::malloc(room * sizeof(char*)));
    char line[PATH_MAX * 2];
    for (count = 0; std::fgets(line, sizeof line, file); ++count) {
        line[std::strcspn(line, "\n")] = '\0';
        if (count == room) lines = static_cast<char**>(std::realloc(lines, (room *= 2) * sizeof(char*)));
        lines[count] = strdup(line);
    }
    std::fclose(file);
    return lines;
}

void claim(const char* launch, const char* target) {
    char name[PATH_MAX];
    std::snprintf(name, sizeof name, "%s.claimed", launch);
    const int fd = open(name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644);
    if (fd >= 0) {
        close(fd);
        return;
    }
    std::fprintf(stderr,
                 "tessera-trace plugin: record %s: the script starts it a second time, but a trace holds one run\n"
                 "  what to do: use a script that starts the program once\n",
                 target);
    _exit(1);
}

}  // namespace

char** instead_of(const char* path, char* const argv[]) {
    const char* launch = std::getenv("TESSERA_LAUNCH");
    struct stat asked{}, target{};
    if (!launch || !path || stat(path, &asked) != 0) return nullptr;
    size_t count = 0;
    char** lines = lines_of(launch, count);
    if (!lines || count < 2 || stat(lines[0], &target) != 0) return nullptr;
    if (asked.st_dev != target.st_dev || asked.st_ino != target.st_ino) return nullptr;
    claim(launch, lines[0]);
    size_t words = 0;
    while (argv[words]) ++words;
    // lines[1] is the program as QEMU finds it; then QEMU's own words, which end with -0.
    auto** out = static_cast<char**>(std::malloc((count + words + 2) * sizeof(char*)));
    size_t at = 0;
    for (size_t i = 2; i < count; ++i) out[at++] = lines[i];
    out[at++] = words ? argv[0] : lines[1];
    out[at++] = lines[1];
    for (size_t i = 1; i < words; ++i) out[at++] = argv[i];
    out[at] = nullptr;
    return out;
}

char** without_preload(char* const environment[]) {
    size_t count = 0;
    while (environment && environment[count]) ++count;
    auto** out = static_cast<char**>(std::malloc((count + 1) * sizeof(char*)));
    size_t at = 0;
    for (size_t i = 0; i < count; ++i)
        if (std::strncmp(environment[i], preload, sizeof preload - 1) != 0 || !std::strstr(environment[i], library))
            out[at++] = environment[i];
    out[at] = nullptr;
    return out;
}

const char* found_on_path(const char* name) {
    static char found[PATH_MAX];
    if (std::strchr(name, '/')) return name;
    const char* path = std::getenv("PATH");
    for (const char* at = path ? path : "/bin:/usr/bin"; *at;) {
        const size_t size = std::strcspn(at, ":");
        std::snprintf(found, sizeof found, "%.*s/%s", static_cast<int>(size), at, name);
        if (access(found, X_OK) == 0) return found;
        at += size + (at[size] == ':');
    }
    return nullptr;
}

}  // namespace tessera::launch
