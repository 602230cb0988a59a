#include "cli/usage.h"

#include <sys/resource.h>

#include <cstdio>

namespace tessera::sim {

std::string Usage::line() const {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    const auto seconds = [](const timeval& time) { return double(time.tv_sec) + double(time.tv_usec) / 1e6; };
    const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
    char text[96];
    std::snprintf(text, sizeof text, "%.6f,%.6f,%llu", wall, seconds(used.ru_utime) + seconds(used.ru_stime),
                  static_cast<unsigned long long>(used.ru_maxrss) * 1024);
    return text;
}

}  // namespace tessera::sim
