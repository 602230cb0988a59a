#include "counters/counts.h"

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <sys/stat.h>
#include <unistd.h>

namespace tessera::counters {
namespace {

constexpr uint64_t kLateNs = 10000, kLatePart = 1000;  // 0.1% is a thousandth

std::string beside(const std::string& path) { return path + "." + std::to_string(getpid()) + ".part"; }

Problem not_written(const std::string& path, int error) {
    return {"counts " + path, strerror(error), "name a file in a folder where you may write, on a disk with room"};
}

}  // namespace

std::vector<Count> read_counts(const std::vector<int>& descriptors) {
    std::vector<Count> counts;
    for (const int descriptor : descriptors) {
        uint64_t values[3] = {};
        const bool whole = read(descriptor, values, sizeof values) == static_cast<ssize_t>(sizeof values);
        counts.push_back({whole, values[0], values[1], values[2]});
    }
    return counts;
}

Problem check_counts(const std::vector<Event>& events, const std::vector<Count>& counts) {
    const std::string end_others =
        "end other users of counters (as root: sysctl kernel.nmi_watchdog=0; perf), or count fewer events at a time";
    for (size_t i = 0; i < events.size(); ++i) {
        const Count& count = counts[i];
        const std::string asked = "event " + events[i].name;
        if (!count.read) return {asked, "it lost its counter during the run", end_others};
        if (count.enabled_ns == 0) return {asked, "it was never enabled", "let the region take some time on a processor"};
        const uint64_t gap = count.enabled_ns - std::min(count.enabled_ns, count.running_ns);
        if (count.running_ns == 0 || gap > std::max(kLateNs, count.enabled_ns / kLatePart))
            return {asked, "it counted for " + std::to_string(count.running_ns) + " of " + std::to_string(count.enabled_ns) + " ns",
                    end_others};
    }
    return {};
}

Problem prepare_file(const std::string& path) {
    struct stat status = {};
    const bool there = stat(path.c_str(), &status) == 0;
    if (there && !S_ISREG(status.st_mode)) return {"counts " + path, "it is no regular file", "name a file"};
    const std::string trial = beside(path);
    FILE* file = fopen(trial.c_str(), "wxe");
    if (file == nullptr) return not_written(path, errno);
    fclose(file);
    unlink(trial.c_str());
    // A run that fails leaves no file, so none of an earlier run either.
    return there && unlink(path.c_str()) != 0 ? not_written(path, errno) : Problem();
}

Problem write_counts(const std::string& path, const std::vector<Event>& events, const std::vector<Count>& counts, uint64_t region_ns) {
    const std::string part = beside(path);
    FILE* file = fopen(part.c_str(), "wxe");
    if (file == nullptr) return not_written(path, errno);
    fputs("event,value,enabled_ns,running_ns\n", file);
    for (size_t i = 0; i < events.size(); ++i)
        fprintf(file, "%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n", events[i].name.c_str(), counts[i].value, counts[i].enabled_ns,
                counts[i].running_ns);
    fprintf(file, "region_ns,%" PRIu64 ",0,0\n", region_ns);
    errno = 0;
    const bool flushed = fflush(file) == 0 && ferror(file) == 0;
    const int cause = errno;
    const bool closed = fclose(file) == 0;
    if (flushed && closed && rename(part.c_str(), path.c_str()) == 0) return {};
    const int error = cause != 0 ? cause : errno != 0 ? errno : EIO;
    unlink(part.c_str());
    return not_written(path, error);
}

}  // namespace tessera::counters
