#include "counters/refused.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace tessera::counters {
namespace {

std::string paranoid_level() {
    FILE* file = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
    char level[16] = "";
    const bool known = file != nullptr && fscanf(file, "%15s", level) == 1;
    if (file != nullptr) fclose(file);
    return known ? level : "unknown";
}

Problem meaning(const Event& event, int error) {
    switch (error) {
        case EACCES:
        case EPERM:  // also from filters of system calls, such as docker's
            return {"", "not permitted; kernel.perf_event_paranoid is " + paranoid_level(),
                    std::string("as root: sysctl kernel.perf_event_paranoid=") + (event.kernel ? "1" : "2") +
                        ", or run with CAP_PERFMON; docker: --cap-add PERFMON, before 23.0 --security-opt seccomp=unconfined"};
        case ENOENT:
        case EOPNOTSUPP:
        case ENODEV:
        case ENXIO:
            return {"", "this processor or guest has no such counter",
                    "count on bare metal, events of this processor: tessera measure counters show"};
        case EINVAL:
            return {"", "the kernel rejects this event, alone or beside those above it",
                    "use codes of this processor, and not more events than it has counters: tessera measure counters show"};
        case EBUSY: return {"", "its counter is taken", "end other users of counters: as root sysctl kernel.nmi_watchdog=0, and perf"};
        case ENOSPC: return {"", "no breakpoint is free", "set fewer breakpoints; a debugger may hold some"};
        case E2BIG: return {"", "this kernel does not know the attribute", "use a newer kernel, or leave the event out"};
        case EMFILE:
        case EBADF: return {"", "too many open files", "raise the limit: ulimit -n"};
        case ENOSYS:
            return {"", "this kernel has no counters (CONFIG_PERF_EVENTS), or a filter denies them",
                    "use another kernel; docker: --cap-add PERFMON"};
        default: return {"", "", "see man perf_event_open for this error"};
    }
}

}  // namespace

Problem refused(const Event& event, int error) {
    Problem problem = meaning(event, error);
    problem.asked = "event " + event.name;
    const std::string words = std::string(strerror(error)) + " (errno " + std::to_string(error) + ")";
    problem.found = problem.found.empty() ? words : problem.found + ": " + words;
    return problem;
}

}  // namespace tessera::counters
