// masked_memory.h - zeroed memory for the sets of a masked cache; it uses no RAM until it is touched.
//
// A 60MB cache has 49152 sets, of which a small program touches few; a large one touches all at random, so the kernel
// is asked for large pages (a request only; nothing depends on it).
#pragma once

#include <sys/mman.h>

#include "engine/lanes/storage.h"

namespace tessera::sim::lanes::TESSERA_ISA {

class LazyMemory {
public:
    explicit LazyMemory(size_t bytes) : bytes_(bytes + large_page) {
        mapped_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (mapped_ == MAP_FAILED) out_of_memory();
        const size_t past = reinterpret_cast<size_t>(mapped_) % large_page;
        first_ = static_cast<uint8_t*>(mapped_) + (past == 0 ? 0 : large_page - past);
        if (bytes >= large_page) madvise(first_, bytes, MADV_HUGEPAGE);
    }
    LazyMemory(const LazyMemory&) = delete;
    LazyMemory& operator=(const LazyMemory&) = delete;
    ~LazyMemory() { munmap(mapped_, bytes_); }

    uint8_t* data() const { return first_; }

private:
    static constexpr size_t large_page = size_t{2} << 20;
    size_t bytes_;
    void* mapped_;
    uint8_t* first_;
};

}  // namespace tessera::sim::lanes::TESSERA_ISA
