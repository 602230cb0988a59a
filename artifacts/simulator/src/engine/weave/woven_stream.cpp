#include "engine/weave/woven_stream.h"

#include <algorithm>

#include "base/error.h"
#include "os/kernel_addresses.h"

namespace tessera::sim::weave {
namespace {

constexpr size_t frame_accesses = 1 << 16;  ///< a frame ends at the first execution that brings it here
constexpr unsigned lru_batch = 31;
constexpr uint64_t most_noted = 512, unmapped = ~uint64_t{0};
/// The page cache is no part of a log: pages that private writes copy from it lie in the kernel's own memory.
constexpr uint64_t page_cache = uint64_t{1} << 38, page_cache_pages = 1 << 18;

unsigned index_of(uint64_t page, unsigned level) { return unsigned(page >> (9 * (level - 1))) & 511; }
uint64_t entry_of(uint64_t table, unsigned index) { return table << 9 | index; }

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
        if (change.kind != os::Kind::unmap && change.frame + change.pages > kernel::frame_limit)
            throw Refusal("--weave with log " + mapping_->name, "it has frame " + std::to_string(change.frame),
                          "use a machine of less than 16TB");
    blocks_.insert(blocks_.end(), compiled_.blocks().begin(), compiled_.blocks().end());
    rewind();
}

void WovenStream::rewind() {
    source_.rewind();
    live_.emplace(mapping_->log, source_.header().pools);
    children_.clear();
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
    const std::span<const OsChange> changes = log_.changes_of(epoch_++);
    std::vector<Fault> faults;
    fresh_.clear();
    for (const OsChange& change : changes) {
        if (change.fault) faults.push_back(fault_of(change));
        note_pages(change);
    }
    live_->change();
    auto next = faults.begin();
    for (const OsChange& change : changes) {
        if (change.fault) weave(*next++, out);
        else note_tables(change);
    }
}

/// Tables that work outside faults put in place: later faults find them. Fault-around uses the fault's.
void WovenStream::note_tables(const OsChange& change) {
    if (change.kind == os::Kind::unmap || change.cause == os::Cause::around) return;
    for (uint64_t page = change.page; page < change.page + change.pages; page = (page | 511) + 1) {
        TableFrames::Path path;
        const size_t levels = live_->tables(VirtAddr(page << 12), path);
        for (unsigned i = 0; i + 1 < levels; ++i) children_[entry_of(path[i], index_of(page, 4 - i))] = path[i + 1];
    }
}

/// What later faults of the epoch find: a block that loads from a new page and then stores to it has two faults. Ranges of more than 2MB are
/// left out.
void WovenStream::note_pages(const OsChange& change) {
    const bool unmaps = change.kind == os::Kind::unmap, maps = change.kind == os::Kind::map || change.kind == os::Kind::collapse;
    if (change.pages > most_noted || (!maps && !unmaps)) return;
    for (uint64_t i = 0; i < change.pages; ++i) fresh_[change.page + i] = maps ? change.frame + i : unmapped;
}

/// pre: live_ is as before the epoch, and fresh_ has what came in it before the fault.
WovenStream::Fault WovenStream::fault_of(const OsChange& change) const {
    MappedRow before;
    bool mapped = live_->find(change.page, before) == LivePages::Found::mapped;
    uint64_t old = mapped ? before.frame + (change.page - before.page) : 0;
    if (const auto found = fresh_.find(change.page); found != fresh_.end()) {
        mapped = found->second != unmapped;
        old = mapped ? found->second : 0;
    }
    const std::string size = change.gigantic ? "-1gb" : change.large ? "-2mb" : "";
    Fault fault{"", change.page, change.frame, 0, change.gigantic ? 2u : change.large ? 3u : 4u, false};
    const auto is = [&](const std::string& kind, bool joins) { fault.kind = kind + size, fault.joins_lru = joins && size.empty(); };
    switch (change.cause) {
        case os::Cause::page: is(size.empty() ? "write-4kb" : "write", true); break;
        case os::Cause::zero: is("read-zero", false); break;
        case os::Cause::copy:
        case os::Cause::copy_read:  // without the work of the read
            is(!mapped ? "write-private" : old == os::zero_frame ? "write-zero" : "write-cow", true);
            fault.source = kernel::of_own(page_cache + (change.page % page_cache_pages << 12));
            if (mapped && old != os::zero_frame) fault.source = kernel::of_page(old, 0);
            break;
        case os::Cause::reuse: is("write-reuse", false); break;
        case os::Cause::file:
        case os::Cause::file_read: is("read-file", false); break;
        default: is(os::name_of(change.cause), false); break;
    }
    return fault;
}

/// Levels of the tables that the fault allocated, the highest first. Remembers them.
std::vector<unsigned> WovenStream::new_tables(const Fault& fault, const TableFrames::Path& path) {
    std::vector<unsigned> found;
    for (unsigned i = 0; i + 1 < fault.levels; ++i) {
        uint32_t& child = children_.try_emplace(entry_of(path[i], index_of(fault.page, 4 - i)), ~uint32_t{0}).first->second;
        if (child == path[i + 1]) continue;
        child = path[i + 1];
        found.push_back(3 - i);
    }
    return found;
}

void WovenStream::weave(const Fault& fault, trace::Frame& out) {
    TableFrames::Path path;
    if (live_->tables(VirtAddr(fault.page << 12), path) < fault.levels)
        throw Refusal("--weave with log " + mapping_->name + ", fault of kind " + fault.kind + " before access " + std::to_string(access_),
                      "the log does not have the tables of the page [weave/tables]", "make the log again: tessera lab os run --help");
    const std::vector<unsigned> fresh = new_tables(fault, path);
    const bool full = fault.joins_lru && ++in_batch_ == lru_batch;
    if (full || fault.levels == 3) in_batch_ = 0;  // a large page does not wait for others
    const Compiled* const work = compiled_.find(fault.kind, uint32_t(fresh.size()), full);
    const Compiled* const table = compiled_.find("table", 4, false);
    if (work == nullptr || (table == nullptr && work->tables < fresh.size()))
        throw Refusal("--weave " + path_ + ", fault before access " + std::to_string(access_) + " of log " + mapping_->name,
                      "there is no template of kind " + (work == nullptr ? fault.kind : "table") + " [weave/no-template]",
                      "use a scenario without such faults (tessera simulate --os --faults-out lists them), or leave out --weave");
    faults_.push_back({access_, fault.page, work, uint8_t(fresh.size()), uint8_t(fault.levels)});
    const auto at = [&](Base base) -> uint64_t& { return base_[static_cast<size_t>(base)]; };
    at(Base::fixed) = at(Base::stack) = kernel::of_own(0);
    at(Base::memory_map) = kernel::of_struct_page(0, 0);
    at(Base::page) = kernel::of_page(fault.frame, 0);
    at(Base::page_struct) = kernel::of_struct_page(fault.frame, 0);
    at(Base::source) = fault.source;
    at(Base::source_struct) = kernel::of_struct_page((fault.source - kernel::begin) >> 12 & (kernel::frame_limit - 1), 0);
    for (unsigned level = 1; level <= 4; ++level) {
        // A table that the page does not need (of a level below a large page) is the lowest one that it has.
        const unsigned known = std::max(level, 5 - fault.levels);
        const uint64_t frame = path[4 - known];
        base_[static_cast<size_t>(Base::entry_1) + level - 1] = kernel::of_table(frame, 8 * index_of(fault.page, known));
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
        const Place& place = work.places[i];
        addresses[i] = base_[static_cast<size_t>(place.base)] + place.offset;
        is_store[i] = place.store;
    }
}

void WovenStream::run_block(uint32_t block, trace::Frame& out) {
    out.block_ids.push_back(block);
    out.access_counts.push_back(0);
}

}  // namespace tessera::sim::weave
