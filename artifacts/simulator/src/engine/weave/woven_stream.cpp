#include "engine/weave/woven_stream.h"

#include <algorithm>

#include "base/error.h"
#include "os/kernel_addresses.h"

namespace tessera::sim::weave {
namespace {

constexpr size_t frame_accesses = 1 << 16;  ///< a frame ends at the first execution that brings it here
constexpr unsigned lru_batch = 31;
constexpr uint32_t no_table = ~uint32_t{0};

unsigned index_of(uint64_t page, unsigned level) { return unsigned(page >> (9 * (level - 1))) & 511; }
uint64_t entry_of(uint64_t table, unsigned index) { return table << 9 | index; }
/// Of the tables that map the page.
unsigned levels_of(const OsChange& change) { return change.gigantic ? 2 : change.large ? 3 : 4; }

std::string kind_of(const OsChange& change) {
    const std::string size = change.gigantic ? "-1gb" : change.large ? "-2mb" : "";
    switch (change.cause) {
        case os::Cause::page: return "write" + (size.empty() ? "-4kb" : size);
        case os::Cause::zero: return "read-zero" + size;
        case os::Cause::copy:
        case os::Cause::copy_read:  // without the work of the read
            if (change.source == os::zero_frame) return "write-zero" + size;
            return (change.from == os::Source::mapped ? "write-cow" : "write-private") + size;
        case os::Cause::reuse: return "write-reuse" + size;
        case os::Cause::file:
        case os::Cause::file_read: return "read-file" + size;
        default: return os::name_of(change.cause) + size;
    }
}

/// Whether its page joins the LRU lists by way of a batch.
bool joins_lru(const OsChange& change) {
    return levels_of(change) == 4 &&
           (change.cause == os::Cause::page || change.cause == os::Cause::copy || change.cause == os::Cause::copy_read);
}

}  // namespace

WovenStream::WovenStream(Stream& source, const Templates& templates, const std::string& path, std::shared_ptr<const Mapping> mapping)
    : source_(source),
      path_(path),
      mapping_(std::move(mapping)),
      log_(*mapping_->log),
      compiled_(templates, source.blocks().size()),
      blocks_(source.blocks()) {
    if (log_.faults == 0)
        throw Refusal("--weave with log " + mapping_->name, "the log has no faults [weave/no-faults]",
                      "leave out --weave, or make a log of a recording from its first instruction on");
    for (const OsChange& change : log_.changes)
        if (change.kind != os::Kind::unmap && std::max(change.frame + change.pages, change.source + 1) > kernel::frame_limit)
            throw Refusal("--weave with log " + mapping_->name, "it has frame " + std::to_string(std::max(change.frame, change.source)),
                          "use a machine of less than 16TB");
    blocks_.insert(blocks_.end(), compiled_.blocks().begin(), compiled_.blocks().end());
    rewind();
}

void WovenStream::rewind() {
    source_.rewind();
    children_.clear();
    root_ = no_table;
    in_ = {};
    at_ = at_access_ = epoch_ = 0;
    frames_ = access_ = 0;
    in_batch_ = 0;
    faults_.clear();
}

bool WovenStream::next(trace::Frame& out) {
    out.block_ids.clear();
    out.access_counts.clear();
    out.addresses.clear();
    out.is_store.clear();
    out.index = frames_++;
    out.first_access = access_;
    while (out.addresses.size() < frame_accesses) {
        if (at_ == in_.block_ids.size()) {
            at_ = at_access_ = 0;
            if (!source_.next(in_)) {
                in_ = {};
                break;
            }
            continue;
        }
        copy_program(out);
    }
    return !out.block_ids.empty();
}

/// Executions up to the next one with faults, and that one with what comes before it.
void WovenStream::copy_program(trace::Frame& out) {
    const uint64_t change = log_.begin_of(epoch_);
    size_t end = at_, end_access = at_access_;
    const size_t room = frame_accesses - out.addresses.size();
    uint64_t access = access_;
    bool faults = false;
    while (end < in_.block_ids.size() && end_access - at_access_ < room) {
        faults = access + in_.access_counts[end] > change;
        if (faults) break;
        access += in_.access_counts[end];
        end_access += in_.access_counts[end++];
    }
    const auto copy = [&](size_t e, size_t a) {
        out.block_ids.insert(out.block_ids.end(), in_.block_ids.begin() + ptrdiff_t(at_), in_.block_ids.begin() + ptrdiff_t(e));
        out.access_counts.insert(out.access_counts.end(), in_.access_counts.begin() + ptrdiff_t(at_),
                                 in_.access_counts.begin() + ptrdiff_t(e));
        out.addresses.insert(out.addresses.end(), in_.addresses.begin() + ptrdiff_t(at_access_), in_.addresses.begin() + ptrdiff_t(a));
        out.is_store.insert(out.is_store.end(), in_.is_store.begin() + ptrdiff_t(at_access_), in_.is_store.begin() + ptrdiff_t(a));
        access_ += a - at_access_;
        at_ = e, at_access_ = a;
    };
    copy(end, end_access);
    if (!faults) return;
    const uint64_t behind = access_ + in_.access_counts[at_];
    while (log_.begin_of(epoch_) < behind) weave_epoch(out);
    copy(at_ + 1, at_access_ + in_.access_counts[at_]);
}

void WovenStream::weave_epoch(trace::Frame& out) {
    for (const OsChange& change : log_.changes_of(epoch_++)) {
        TableFrames::Path path;
        const std::vector<unsigned> fresh = new_tables(change, path);
        if (change.fault) weave(change, path, fresh, out);
    }
}

/// Gives the tables that map the change's first page, root first, and notes those that the change names. Returns the levels of the tables that a
/// fault allocated, the highest first: a fault names its tables if it allocated one, and below a new table all are new.
std::vector<unsigned> WovenStream::new_tables(const OsChange& change, TableFrames::Path& path) {
    const bool named = change.table_count > 0;
    const unsigned levels = named ? change.table_count : levels_of(change);
    std::vector<unsigned> fresh;
    path.fill(no_table);
    if (named) std::copy_n(log_.tables.begin() + change.tables, levels, path.begin());
    else path[0] = root_;
    root_ = path[0];
    for (unsigned i = 0; i + 1 < levels; ++i) {
        const uint64_t entry = entry_of(path[i], index_of(change.page, 4 - i));
        const auto known = children_.find(entry);
        const uint32_t child = known != children_.end() ? known->second : no_table;
        if (!named) {
            path[i + 1] = child;
            continue;
        }
        if (child != path[i + 1] || !fresh.empty() || i + 2 == levels) fresh.push_back(3 - i);
        children_[entry] = path[i + 1];
    }
    return fresh;
}

void WovenStream::weave(const OsChange& change, const TableFrames::Path& path, const std::vector<unsigned>& fresh, trace::Frame& out) {
    const std::string kind = kind_of(change);
    const unsigned levels = levels_of(change);
    if (path[levels - 1] == no_table)
        throw Refusal("--weave with log " + mapping_->name + ", fault of kind " + kind + " before access " + std::to_string(access_),
                      "the log does not have the tables of the page [weave/tables]", "make the log again: tessera lab os run --help");
    const bool full = joins_lru(change) && ++in_batch_ == lru_batch;
    if (full || levels == 3) in_batch_ = 0;  // a large page does not wait for others
    const Compiled* const work = compiled_.find(kind, uint32_t(fresh.size()), full);
    const Compiled* const table = compiled_.find("table", 4, false);
    if (work == nullptr || (table == nullptr && work->tables < fresh.size()))
        throw Refusal("--weave " + path_ + ", fault before access " + std::to_string(access_) + " of log " + mapping_->name,
                      "there is no template of kind " + (work == nullptr ? kind : "table") + " [weave/no-template]",
                      "use a scenario without such faults (tessera simulate --os --faults-out lists them), or leave out --weave");
    faults_.push_back({access_, change.page, work, uint8_t(fresh.size()), uint8_t(levels)});
    const auto at = [&](Base base) -> uint64_t& { return base_[static_cast<size_t>(base)]; };
    at(Base::fixed) = at(Base::stack) = kernel::of_own(0);
    at(Base::memory_map) = kernel::of_struct_page(0, 0);
    at(Base::page) = kernel::of_page(change.frame, 0);
    at(Base::page_struct) = kernel::of_struct_page(change.frame, 0);
    at(Base::source) = kernel::of_page(change.source, 0);
    at(Base::source_struct) = kernel::of_struct_page(change.source, 0);
    for (unsigned level = 1; level <= 4; ++level) {
        // A table that the page does not need (of a level below a large page) is the lowest one that it has.
        const unsigned known = std::max(level, 5 - levels);
        const uint64_t frame = path[4 - known];
        base_[static_cast<size_t>(Base::entry_1) + level - 1] = kernel::of_table(frame, 8 * index_of(change.page, known));
        base_[static_cast<size_t>(Base::table_1) + level - 1] = kernel::of_table(frame, 0);
    }
    at(Base::around) = at(Base::entry_1) & ~uint64_t{127};
    run_block(compiled_.entry_block(), out);
    for (size_t i = 0; i + work->tables < fresh.size(); ++i) {
        const unsigned level = fresh[i];
        at(Base::new_table) = base_[static_cast<size_t>(Base::table_1) + level - 1];
        at(Base::new_struct) = kernel::of_struct_page(path[4 - level], 0);
        at(Base::parent) = base_[static_cast<size_t>(Base::entry_1) + level];
        run(*table, out);
    }
    run(*work, out);
    run_block(compiled_.exit_block(), out);
}

void WovenStream::run(const Compiled& work, trace::Frame& out) {
    for (const Piece& piece : work.pieces) {
        out.block_ids.push_back(piece.block);
        out.access_counts.push_back(uint16_t(piece.accesses));
    }
    const size_t first = out.addresses.size(), count = work.places.size();
    out.addresses.resize(first + count);
    out.is_store.resize(first + count);
    uint64_t* const addresses = out.addresses.data() + first;
    uint8_t* const is_store = out.is_store.data() + first;
    for (size_t i = 0; i < count; ++i) {
        const TemplateAccess& place = work.places[i];
        addresses[i] = base_[static_cast<size_t>(place.base)] + place.offset;
        is_store[i] = place.store;
    }
}

void WovenStream::run_block(uint32_t block, trace::Frame& out) {
    out.block_ids.push_back(block);
    out.access_counts.push_back(0);
}

}  // namespace tessera::sim::weave
