// space.h - implements Linux's memory calls on the pools. marking.h has those that only leave marks.
//
// Callers hold the lock. Results are the kernel's: an address or 0, or -errno. Parts of a call that concern no pool go to
// the kernel. Functions with `later` add calls that can block: run it after the lock is released.
#pragma once

#include "core/placement.h"

namespace mosalloc {

class Space : public Placement {
public:
    /// What a request for private anonymous memory asks beside its size.
    struct Request {
        int prot = 0;
        bool populate = false;
        bool no_reserve = false;
        bool lock = false;
    };
    long map(uint64_t bytes, const Request& request, Later* later);
    /// Maps a file or shared memory at any address. Returns -ENOMEM if the file pool is full and -EINVAL if this
    /// mapping cannot lie there (hugetlbfs); the caller then lets the kernel choose a place.
    long map_file(uint64_t bytes, int prot, int flags, int fd, uint64_t offset, Later* later);
    /// MAP_FIXED of private anonymous memory inside one pool.
    long map_fixed(Range addresses, const Request& request, Later* later);
    /// MAP_FIXED of anything else (a file, shared memory) inside one pool; over a window it splits huge pages.
    long map_foreign(Range addresses, int prot, int flags, int fd, uint64_t offset, Later* later);
    /// After the later calls of a mapping call failed: the memory could not be locked.
    long take_back(long address, uint64_t bytes);
    long unmap(Range addresses);
    long protect(Range addresses, int prot);
    long protect_with_key(Range addresses, int prot, int key);
    long advise(Range addresses, int advice, Later* later);
    /// Returns -ENOMEM if a part of `addresses` is in a pool but not handed out: the kernel's result would describe
    /// the reserved span, which the program must not see.
    long check_mapped(Range addresses);
    /// mremap (remap.cpp).
    long remap(uint64_t old, uint64_t old_bytes, uint64_t bytes, int flags, uint64_t to);

private:
    void settle(Range addresses, const Request& request, Later* later);
};

}  // namespace mosalloc
