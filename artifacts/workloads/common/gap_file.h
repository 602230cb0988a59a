// gap_file.h - edge sources from graph files of GAPBS's converter (.sg, and .wsg with weights).
//
// Format (GAPBS, src/reader.h and src/writer.h; little endian): one byte `directed`, int64 number of arcs,
// int64 number of vertices, int64 offsets[vertices + 1], then the arcs' ends: int32, or int32 vertex and int32
// weight. A directed graph has a second set of offsets and ends for the incoming arcs, which is not needed here:
// rows are built from the arcs. The constructor checks the whole file and throws Error for an inconsistent file.
// The file is mapped read-only, so its pages are not memory of the program, and the region of interest does not read it.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>

#include "common/kronecker.h"

namespace tessera::workloads {

class GapFileEdges {
public:
    /// The suffix decides: .sg has no weights, .wsg has.
    explicit GapFileEdges(const std::string& path);

    uint64_t vertices() const { return vertices_; }
    uint64_t count() const { return arcs_; }
    bool weighted() const { return entry_bytes_ == 8; }

    /// Ascending k is fast: the row that k lies in is remembered. Each thread needs its own copy, which shares the mapping.
    Edge operator()(uint64_t k) const {
        if (k < offset(row_)) row_ = 0;
        while (offset(row_ + 1) <= k) ++row_;
        return {static_cast<int64_t>(row_), end(k)};
    }

    int32_t weight(uint64_t k) const {
        int32_t value;
        std::memcpy(&value, ends_ + k * entry_bytes_ + 4, sizeof value);
        return value;
    }

private:
    uint64_t offset(uint64_t vertex) const {
        uint64_t value;
        std::memcpy(&value, offsets_ + vertex * sizeof value, sizeof value);  // the header has 17 bytes
        return value;
    }
    int32_t end(uint64_t k) const {
        int32_t value;
        std::memcpy(&value, ends_ + k * entry_bytes_, sizeof value);
        return value;
    }
    void check(const std::string& path, uint64_t bytes);

    std::shared_ptr<const unsigned char> start_;  ///< the mapping
    const unsigned char* offsets_ = nullptr;
    const unsigned char* ends_ = nullptr;
    uint64_t vertices_ = 0, arcs_ = 0, entry_bytes_ = 4;
    mutable uint64_t row_ = 0;
};

}  // namespace tessera::workloads
