// mapping.h - a mapping file: physical frames and sizes of the pages of both pools, over time (docs/reference/mappings.md).
//
// Numbers of pages and frames count in 4KB and are relative to the pool, as in layout files. A mapping takes a layout's place.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/types.h"
#include "os/layout.h"
#include "tessera/trace/trace.h"

namespace tessera::sim {

struct MappingRow {
    trace::PoolKind pool;
    uint64_t page, frame, pages;
    PageSize size = PageSize::small_4kb;
    bool mapped = true;  ///< false: the range is unmapped from this epoch on, and frame means nothing
    bool operator==(const MappingRow&) const = default;
};

struct MappingEpoch {
    uint64_t access = 0;           ///< number of the data access from which the rows hold
    std::vector<MappingRow> rows;  ///< sorted by pool (heap first) and page, disjoint
};

struct OsLog;  // os/os_log.h

struct Mapping {
    std::string name;                  ///< the file's stem
    std::vector<MappingEpoch> epochs;  ///< ascending; the first is at access 0
    std::shared_ptr<const OsLog> log = nullptr;  ///< in the place of epochs: what an operating system did
};

/// Throws Refusal with the file, line, column, value and the code of the rule of docs/reference/mappings.md. In the simulator, rows must
/// also lie in the pools of the trace, and frames below 2^36 (page tables begin at 2^48 bytes).
Mapping parse_mapping(const std::string& text, const std::string& path, const std::vector<trace::Pool>& pools);
Mapping read_mapping(const std::string& path, const std::vector<trace::Pool>& pools);

/// A layout without windows, whose pages are those of the mapping: what engines take.
Layout layout_of(std::shared_ptr<const Mapping> mapping);

}  // namespace tessera::sim
