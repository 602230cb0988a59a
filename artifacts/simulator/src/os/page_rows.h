// page_rows.h - what mappings say of pages: rows and chunks. Page numbers are virtual addresses / 4KB.
#pragma once

#include <cstdint>

#include "base/types.h"

namespace tessera::sim {

/// A maximal run of pages with constant frame - page.
struct PageChunk {
    uint64_t page = 0, frame = 0, pages = 0;  ///< first page, first frame
    bool operator==(const PageChunk&) const = default;
};

/// Consecutive pages of one size with consecutive frames.
struct MappedRow {
    uint64_t page = 0, frame = 0, pages = 0;
    PageSize size = PageSize::small_4kb;
    uint32_t chunk = 0;  ///< index of chunks(); no_chunk outside the pools and of the kernel
    static constexpr uint32_t no_chunk = ~uint32_t{0};
};

}  // namespace tessera::sim
