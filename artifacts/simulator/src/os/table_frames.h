// table_frames.h - the frames of real page tables, where an operating system's log has them (docs/explain/os.md).
#pragma once

#include <array>
#include <cstdint>

#include "base/types.h"

namespace tessera::sim {

class TableFrames {
public:
    static constexpr size_t levels = 4;
    using Path = std::array<uint32_t, levels>;

    virtual ~TableFrames() = default;
    /// The frames (4KB units) of the tables that map the address, root first; returns how many are known: `levels` for a page of 4KB,
    /// one less for 2MB, two less for 1GB, 0 for an address that the log does not map.
    virtual size_t tables(VirtAddr address, Path& frames) const = 0;
};

}  // namespace tessera::sim
