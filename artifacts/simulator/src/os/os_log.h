// os_log.h - the mapping log of an imitated operating system (docs/explain/os.md), read and checked against the trace.
//
// An epoch is all that happens to pages and areas before one access: most faults are hoisted to the first access of their block. Where an
// access has several records, the pages are as after the last one.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "os/live_areas.h"
#include "os/mapping.h"
#include "tessera/os/log.h"

namespace tessera::sim {

/// A change of pages. Page numbers are virtual addresses / 4KB.
struct OsChange {
    uint64_t page, pages, frame;
    uint32_t tables;  ///< index of OsLog::tables of the first of its table frames
    uint8_t table_count;  ///< 0: the tables are as before
    os::Kind kind;  ///< map, unmap, split, collapse or upgrade
    bool large : 1;  ///< map: pages of 2MB
    bool gigantic : 1;  ///< map: pages of 1GB
    bool fault : 1;  ///< a page fault made it
    os::Cause cause;  ///< map, upgrade
    os::Source from = {};  ///< copy, copy_read of a page: where it was
    uint64_t source = os::zero_frame;  ///< copy, copy_read: the frame that was copied; zero_frame: zeros
};

struct OsEpoch {
    uint64_t access;  ///< number of the data access from which it holds
    size_t first, first_area;  ///< its changes, of pages and of areas, begin here and end where those of the next epoch begin
};

struct OsLog {
    std::vector<OsChange> changes;
    std::vector<AreaChange> areas;
    std::vector<OsEpoch> epochs;  ///< ascending
    std::vector<uint32_t> tables;
    std::vector<trace::Pool> more_pools;  ///< beside those of the trace: files, huge pages outside; only base and size count
    uint64_t faults = 0;

    /// The access from which an epoch holds; ~0: there are fewer epochs.
    uint64_t begin_of(size_t epoch) const { return epoch < epochs.size() ? epochs[epoch].access : ~uint64_t{0}; }
    /// pre: the epoch exists.
    std::span<const OsChange> changes_of(size_t epoch) const { return part(changes, &OsEpoch::first, epoch); }
    std::span<const AreaChange> areas_of(size_t epoch) const { return part(areas, &OsEpoch::first_area, epoch); }

private:
    template <class T>
    std::span<const T> part(const std::vector<T>& all, size_t OsEpoch::* first, size_t epoch) const {
        const size_t begin = epochs[epoch].*first, end = epoch + 1 < epochs.size() ? epochs[epoch + 1].*first : all.size();
        return std::span(all).subspan(begin, end - begin);
    }
};

/// A mapping that is the log at `path`; its name is the file's stem. Throws Refusal: damaged, of another trace, or beyond the pools.
Mapping read_os_log(const std::string& path, const trace::Header& header);

}  // namespace tessera::sim
