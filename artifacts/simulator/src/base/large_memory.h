// large_memory.h - zeroed memory for the sets of large simulated caches; it uses no RAM until it is touched.
//
// A 60MB cache has 49152 sets, of which a small program touches few; a large one touches all at random, so the kernel
// is asked for large pages (a request only; nothing depends on it).
#pragma once

#include <cstddef>
#include <cstdint>

namespace tessera::sim {

/// No function that is more than a load is defined here, as vector code includes this file, too.
class LargeMemory {
public:
    /// Throws std::bad_alloc.
    explicit LargeMemory(size_t bytes);
    LargeMemory(LargeMemory&& other) noexcept;
    LargeMemory& operator=(LargeMemory&& other) noexcept;
    ~LargeMemory();

    uint8_t* data() const { return first_; }

private:
    void* mapped_;
    size_t mapped_bytes_;  ///< 0: moved away
    uint8_t* first_;       ///< aligned to a 4KB page, from 2MB on to one of 2MB
};

}  // namespace tessera::sim
