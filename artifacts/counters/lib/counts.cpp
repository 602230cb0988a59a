#include "counters/counts.h"

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tessera::counters {
namespace {

constexpr uint64_t kLateNs = 10000, kLatePart = 1000;  // 0.1% is a thousandth

std::string beside(const std::string& path) { return path + "." + std::to_string(getpid()) + ".part"; }

Problem not_written(const std::string& path, int error) {
    return {"counts " + path, strerror(error), "name a file in a folder where you may write, on a disk with room"};
}

/// Syncs and closes the file, gives it its name, and syncs the folder. Returns 0, or why not (errno); then `part` is gone.
int publish(FILE* file, const std::string& part, const std::string& path) {
    const std::string folder = path.substr(0, path.rfind('/') + 1);
    const int above = open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    errno = above < 0 ? errno : EIO;  // ferror() does not say why
    int error = above >= 0 && ferror(file) == 0 && fflush(file) == 0 && fsync(fileno(file)) == 0 ? 0 : errno;
    if (fclose(file) != 0 && error == 0) error = errno;
    if (error == 0 && rename(part.c_str(), path.c_str()) != 0) error = errno;
    if (error != 0) unlink(part.c_str());
    if (error == 0 && fsync(above) != 0 && errno != EINVAL) error = errno;  // EINVAL: the file system cannot sync folders
    if (above >= 0) close(above);
    return error;
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
    const int error = publish(file, part, path);
    return error == 0 ? Problem() : not_written(path, error);
}

}  // namespace tessera::counters
