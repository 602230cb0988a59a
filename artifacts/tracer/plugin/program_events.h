// SPDX-License-Identifier: GPL-2.0-only
// program_events.h - turns what libmosalloc-events.so tells of the program's calls into events of the trace.
//
// The library gives addresses and an open file; the trace has pools with offsets, and a list of files. Two mappings are of
// the same file if device and inode are the same.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mosalloc/events.h"
#include "tessera/trace/areas.h"
#include "tessera/trace/events.h"

namespace tessera::tracer {

/// A file as the system describes it. `device` and `inode` are 0 if it is gone; then the name is its identity.
struct FoundFile {
    uint64_t device = 0, inode = 0;
    trace::EventFile file;
    bool operator==(const FoundFile& other) const {
        return device == other.device && inode == other.inode && (inode != 0 || file.name == other.file.name);
    }
};
/// Describes the file of an open descriptor, or of a path (descriptor -1). The name has no folders.
using FindFile = std::function<FoundFile(int64_t fd, const std::string& path)>;
FoundFile find_file(int64_t fd, const std::string& path);

class ProgramEvents {
public:
    /// Where the pools lie. The heap and the anonymous pool must have the sizes that the trace's header says.
    struct Spans {
        uint64_t base[3], bytes[3];  ///< by EventPool: heap, anon, file
    };
    /// Throws Error if the pool map can't be read.
    static Spans read_spans(const std::string& pool_map_path);

    explicit ProgramEvents(Spans spans, FindFile find = find_file) : spans_(spans), find_(std::move(find)) {}

    /// Events without position, in the order of the calls. More than one if a range lies in several pools or has holes.
    /// `path`: what `told.name` points at.
    std::vector<trace::Event> of(const mosalloc_event& told, const std::string& path);

    /// What was told before is the start of the recording: the trace has its areas, not its events.
    void end_start() {
        if (!start_) start_ = areas_.events();
    }
    /// The section of the trace: the areas at the start, then `later`, up to the last of `blocks` executions.
    trace::Events section(std::vector<trace::Event> later, uint64_t blocks) const;

private:
    struct Part {
        trace::EventPool pool;
        uint64_t offset_bytes, length_bytes, begins_at;  ///< begins_at: bytes from the begin of the whole range
    };
    std::vector<Part> parts(uint64_t address, uint64_t bytes) const;
    /// Of a call that failed at a hole: where it had its effect.
    std::vector<Part> reached(const std::vector<Part>& asked, bool skips_holes) const;
    std::vector<trace::Event> made_by(const mosalloc_event& told, const std::string& path);
    uint32_t number_of(const FoundFile& file);

    Spans spans_;
    FindFile find_;
    std::vector<FoundFile> files_;
    trace::Areas areas_;  ///< now
    std::optional<std::vector<trace::Event>> start_;
};

}  // namespace tessera::tracer
