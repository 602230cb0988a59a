#include "cli/usage.h"

#include <sys/resource.h>

#include <cstdio>
#include <fstream>

#include "base/error.h"

namespace tessera::sim {
namespace {

/// VmHWM of this program. The ru_maxrss of getrusage(2) also has what its parent had before exec.
unsigned long long peak_memory_bytes() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
        unsigned long long kilobytes = 0;
        if (std::sscanf(line.c_str(), "VmHWM: %llu kB", &kilobytes) == 1) return kilobytes * 1024;
    }
    throw Failure("--usage-out", "/proc/self/status has no VmHWM", "mount /proc, or leave the option out");
}

}  // namespace

std::string Usage::line() const {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    const auto seconds = [](const timeval& time) { return double(time.tv_sec) + double(time.tv_usec) / 1e6; };
    const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
    char text[96];
    std::snprintf(text, sizeof text, "%.6f,%.6f,%llu", wall, seconds(used.ru_utime) + seconds(used.ru_stime), peak_memory_bytes());
    return text;
}

}  // namespace tessera::sim
