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

/// Where a 4KB page is in its chunk, as far as anchors see: pages before it, and from it on, itself included. Zeros: it is in no chunk.
struct InChunk {
    static constexpr uint64_t most = 65536;
    uint32_t before = 0, from = 0;  ///< at most `most`
    InChunk() = default;
    InChunk(const PageChunk& chunk, uint64_t page)
        : before(uint32_t(least(page - chunk.page))), from(uint32_t(least(chunk.page + chunk.pages - page))) {}

private:
    static constexpr uint64_t least(uint64_t pages) { return pages < most ? pages : most; }
};

/// Consecutive pages of one size with consecutive frames.
struct MappedRow {
    uint64_t page = 0, frame = 0, pages = 0;
    PageSize size = PageSize::small_4kb;
    uint32_t chunk = 0;  ///< index of chunks(); no_chunk outside the pools and of the kernel
    static constexpr uint32_t no_chunk = ~uint32_t{0};
};

}  // namespace tessera::sim
