// cgroups.h - what the cgroups of this process still allow of huge pages.
//
// The kernel charges a huge page to the task's cgroup and to all of its ancestors when the page is touched (files without
// `rsvd`), and its reservation when it is mapped (with `rsvd`). At a limit, a touch is SIGBUS, although pages are free.
// Version 2 names the files hugetlb.2MB.max and .current, version 1 .limit_in_bytes and .usage_in_bytes. A hierarchy that
// is not mounted here cannot be seen, nor an ancestor above the root of a container's mount.
#pragma once

#include "core/base.h"

namespace mosalloc {

struct HugeAllowance {
    uint64_t bytes = ~uint64_t{0};  ///< the smallest of (limit - usage); the largest number: no limit
    char file[512] = "";            ///< the limit that decides
    bool limited() const { return bytes != ~uint64_t{0}; }
};

/// Mount points of hierarchies that may have the controller, read once.
class Cgroups {
public:
    /// Formats as in proc(5), cgroups(7). Unreadable files are no cgroups.
    void init(const char* mounts = "/proc/self/mountinfo");
    /// Reads the limits now: a process may move to another cgroup.
    void huge_pages(uint64_t page_bytes, HugeAllowance* out, const char* groups = "/proc/self/cgroup") const;

private:
    static constexpr size_t kMost = 4, kPath = 512;
    struct Mount {
        char at[kPath], root[kPath];
        bool second;  ///< version 2
    };
    void add(const char* line);
    void look(const Mount& mount, const char* group, uint64_t page_bytes, HugeAllowance* out) const;

    Mount mounts_[kMost];
    size_t count_ = 0;
};

}  // namespace mosalloc
