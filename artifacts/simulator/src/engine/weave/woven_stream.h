// woven_stream.h - a program's stream with the kernel work of its page faults, as Linux 6.12 did it when the faults were recorded.
//
// Before the execution of a block whose accesses have faults, the stream has for each fault: a block of exception entry, the template of the
// fault's kind, and a block of exception exit. The log (os/os_log.h) says of each fault its kind, its frame, what it copied, and its tables;
// templates say what the kernel executes, loads and stores. Faults of one block are woven together before it, as the log hoists them. Each
// 31st page that joins the LRU lists takes a template with a batch of pages, as the batch of Linux has 31 (PAGEVEC_SIZE,
// include/linux/pagevec.h).
// Work that is no fault (system calls, khugepaged, kswapd, compaction) is not woven.
//
// Counts of the program must not contain woven blocks: base/woven.h tells them apart. header() is the program's.
#pragma once

#include <array>
#include <memory>
#include <unordered_map>

#include "engine/stream.h"
#include "engine/weave/compiled.h"
#include "os/os_log.h"
#include "os/table_frames.h"

namespace tessera::sim::weave {

/// A fault of the stream, with the template that its work is.
struct WovenFault {
    uint64_t access;  ///< accesses of the program before it
    uint64_t page;  ///< virtual address / 4KB
    const Compiled* work;
    uint8_t tables;  ///< that it allocated
    uint8_t levels;  ///< of tables that map the page: 4, or 3 for 2MB

    uint64_t page_bytes() const { return uint64_t{4096} << 9 * (4 - levels); }
};

class WovenStream final : public Stream {
public:
    /// `source` outlives this object, which is its only user. Throws Refusal: a log without faults, or with frames beyond 2^32.
    WovenStream(Stream& source, const Templates& templates, const std::string& path, std::shared_ptr<const Mapping> mapping);

    const trace::Header& header() const override { return source_.header(); }
    const std::vector<trace::StaticBlock>& blocks() const override { return blocks_; }
    void rewind() override;
    /// Throws Refusal for a fault whose kind has no template.
    bool next(trace::Frame& out) override;
    /// Those since rewind(), in order.
    const std::vector<WovenFault>& faults() const { return faults_; }

private:
    void copy_program(trace::Frame& out);
    void weave_epoch(trace::Frame& out);
    std::vector<unsigned> new_tables(const OsChange& change, TableFrames::Path& path);
    void weave(const OsChange& change, const TableFrames::Path& path, const std::vector<unsigned>& fresh, trace::Frame& out);
    void run(const Compiled& work, trace::Frame& out);
    void run_block(uint32_t block, trace::Frame& out);

    Stream& source_;
    std::string path_;
    std::shared_ptr<const Mapping> mapping_;
    const OsLog& log_;
    CompiledTemplates compiled_;
    std::vector<trace::StaticBlock> blocks_;

    uint32_t root_;  ///< frame of the table at the top
    std::unordered_map<uint64_t, uint32_t> children_;  ///< table entry (frame, index) -> frame of the table that it leads to
    std::array<uint64_t, bases> base_{};  ///< addresses of the fault at hand
    trace::Frame in_;  ///< of the source
    size_t at_ = 0, at_access_ = 0;  ///< in it: the next execution, its first access
    uint64_t frames_ = 0, access_ = 0;  ///< so far: frames of this stream, accesses of the program
    size_t epoch_ = 0;
    unsigned in_batch_ = 0;
    std::vector<WovenFault> faults_;
};

}  // namespace tessera::sim::weave
