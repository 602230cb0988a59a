// mosalloc-run: starts a program under libmosalloc and checks, when it ends, that its pages were the ones asked for.
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run/elf_check.h"
#include "run/options.h"
#include "run/report.h"
#include "run/smaps.h"
#include "run/tracee.h"

extern char** environ;

namespace mosalloc::run {
namespace {

std::string absolute(const std::string& path) {
    char buffer[PATH_MAX];
    return realpath(path.c_str(), buffer) == nullptr ? path : buffer;
}

std::string beside_launcher(const char* name) {
    const std::string self = absolute("/proc/self/exe");
    return self.substr(0, self.rfind('/') + 1) + name;
}

/// The pool map: in the file of MOSALLOC_POOL_MAP if the user wants to see it, else in one that goes away.
class MapFile {
public:
    MapFile() {
        const char* wanted = getenv("MOSALLOC_POOL_MAP");
        keep_ = wanted != nullptr && *wanted != 0;
        const char* folder = getenv("TMPDIR");
        path_ = keep_ ? wanted : std::string(folder == nullptr ? "/tmp" : folder) + "/mosalloc-map-XXXXXX";
        const int fd = keep_ ? open(path_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644) : mkostemp(path_.data(), O_CLOEXEC);
        if (fd < 0) return;
        if (ftruncate(fd, sizeof(mosalloc_pool_map)) == 0) {
            void* at = mmap(nullptr, sizeof(mosalloc_pool_map), PROT_READ, MAP_SHARED, fd, 0);
            if (at != MAP_FAILED) map_ = static_cast<const mosalloc_pool_map*>(at);
        }
        close(fd);
    }
    ~MapFile() {
        if (!keep_) unlink(path_.c_str());
    }
    MapFile(const MapFile&) = delete;
    MapFile& operator=(const MapFile&) = delete;
    std::string path() const { return absolute(path_); }
    const mosalloc_pool_map* get() const { return map_; }

private:
    bool keep_ = false;
    std::string path_;
    const mosalloc_pool_map* map_ = nullptr;
};

std::vector<std::string> environment(const Options& options, const std::string& library, const std::string& target,
                                     const std::string& map_path) {
    const std::vector<std::pair<std::string, std::string>> ours = {
        {"MOSALLOC_LAYOUT", absolute(options.layout)},
        {"MOSALLOC_TARGET", target},
        {"MOSALLOC_POOL_MAP", map_path},
        {"MOSALLOC_PREFAULT", options.prefault ? "1" : "0"},
        {"MOSALLOC_ALLOW_FALLBACK", options.allow_fallback ? "1" : "0"},
        {"MOSALLOC_VERBOSE", options.verbose ? "1" : "0"},
    };
    const char* preloaded = getenv("LD_PRELOAD");
    const bool chain = preloaded != nullptr && *preloaded != 0;
    std::vector<std::string> out = {"LD_PRELOAD=" + library + (chain ? std::string(":") + preloaded : "")};
    for (const auto& [name, value] : ours) out.push_back(name + "=" + value);
    for (char** variable = environ; *variable != nullptr; ++variable) {
        bool replaced = strncmp(*variable, "LD_PRELOAD=", 11) == 0;
        for (const auto& [name, value] : ours)
            replaced |= strncmp(*variable, name.c_str(), name.size()) == 0 && (*variable)[name.size()] == '=';
        if (!replaced) out.emplace_back(*variable);
    }
    return out;
}

/// Looks at `pid` in its last moment; only the process that owns the pools counts.
void inspect(int pid, const mosalloc_pool_map& map, Outcome* outcome) {
    if (map.state != 1 || map.pid != static_cast<uint64_t>(pid)) return;
    FILE* file = fopen(("/proc/" + std::to_string(pid) + "/smaps").c_str(), "r");
    if (file == nullptr) return;
    const std::vector<Area> areas = read_smaps(file);
    fclose(file);
    // After a SIGKILL the address space can be gone already; after an exec it is another one, without pools.
    if (!has_pools(map, areas)) return;
    // A script may start the target several times: one bad run is not made good by the next.
    if (outcome->checked && !outcome->findings.confirmed()) return;
    outcome->checked = true;
    outcome->findings = compare(map, areas);
}

void judge(const Options& options, const mosalloc_pool_map& map, Outcome* outcome) {
    const Findings& found = outcome->findings;
    if (outcome->checked && found.confirmed() && map.fallback_windows == 0) {
        outcome->verdict = "confirmed";
        return;
    }
    outcome->verdict = !outcome->checked ? "unchecked" : options.allow_fallback ? "fallback" : "mismatch";
    if (map.state == 0) outcome->reason = "libmosalloc never started in the program";
    else if (map.state == 2) outcome->reason = map.error;
    else if (!outcome->checked) outcome->reason = "the memory was gone before it could be read (SIGKILL, or exec of another program)";
    else if (found.anon_huge_bytes != 0) outcome->reason = std::to_string(found.anon_huge_bytes) + " bytes of transparent huge pages in 4KB parts";
    else if (found.wrong_page_bytes != 0) outcome->reason = std::to_string(found.wrong_page_bytes) + " bytes of 4KB parts have other pages";
    else
        for (const WindowFound& w : found.windows)
            if (!w.confirmed() && outcome->reason.empty())
                outcome->reason = "window at offset " + std::to_string(w.asked.start_offset) + ": asked for pages of " +
                                  std::to_string(w.asked.page_bytes) + " bytes, found " + std::to_string(w.smallest_page_bytes);
}

int status_of(const Options& options, const mosalloc_pool_map& map, const Outcome& outcome) {
    const int wait = outcome.wait_status;
    const int own = WIFEXITED(wait) ? WEXITSTATUS(wait) : 128 + WTERMSIG(wait);
    if (map.state == 2) return 2;  // the library has printed why
    if (map.state == 0)
        return fail(2, "layout " + options.layout, outcome.reason,
                    "does the program, or the one named by --target, start at all? Does it use glibc?");
    if (outcome.verdict == "confirmed" || outcome.verdict == "fallback") return own;
    const int failed = fail(1, "layout " + options.layout, outcome.reason,
                            "see --report FILE; --allow-fallback accepts other pages and records it");
    return outcome.verdict == "unchecked" && own != 0 ? own : failed;
}

int main(int count, char** arguments) {
    Options options;
    const int parsed = parse_options(count, arguments, &options);
    if (parsed >= 0) return parsed;
    const std::string path = find_program(options.program[0]);
    if (path.empty()) return fail(2, "program " + options.program[0], "not found in PATH", "check the name");
    const std::string target = options.target.empty() ? path : options.target;
    const bool target_is_file = target.find('/') != std::string::npos;
    if (target_is_file) {
        const Refusal refusal = check_program(target);
        if (!refusal.found.empty()) return fail(2, "program " + target, refusal.found, refusal.remedy);
    }
    const std::string library = absolute(options.library.empty() ? beside_launcher("libmosalloc.so") : options.library);
    if (access(library.c_str(), R_OK) != 0) return fail(2, "library " + library, strerror(errno), "build it, or --library FILE");
    MapFile map_file;
    if (map_file.get() == nullptr)
        return fail(2, "pool map " + map_file.path(), strerror(errno), "set TMPDIR to a folder that can be written");
    const mosalloc_pool_map& map = *map_file.get();
    Outcome outcome;
    const Ending ending = run_traced(
        path, options.program, environment(options, library, target_is_file ? absolute(target) : target, map_file.path()),
        !options.target.empty(), [&](int pid) { inspect(pid, map, &outcome); });
    if (!ending.error.empty())
        return fail(2, "program " + path, ending.error, "check that it can be executed and that ptrace is allowed here");
    outcome.wait_status = ending.wait_status;
    judge(options, map, &outcome);
    if (!options.report.empty() && !write_report(options.report, options, map, outcome))
        return fail(1, "report " + options.report, strerror(errno), "check the path");
    return status_of(options, map, outcome);
}

}  // namespace
}  // namespace mosalloc::run

int main(int count, char** arguments) { return mosalloc::run::main(count, arguments); }
