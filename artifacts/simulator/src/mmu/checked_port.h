// checked_port.h - records the references of one access through its Port and checks the contract of the design.
//
// Engines derive from it and serve the lines (engine/cache_port.h). A design that breaks the contract of mmu/design.h is a
// bug and raises std::logic_error that names design and address, because its counts would look plausible.
//
// A walk is a translation that misses and has walker loads. It takes walker.begin_cycles, and then the times of its loads. A
// design's miss without walker loads is no walk and takes no time.
#pragma once

#include <algorithm>
#include <array>
#include <cstdio>
#include <stdexcept>
#include <vector>

#include "cache/hierarchy.h"
#include "mmu/design.h"

namespace tessera::sim {

/// Sees the page-table entries that walks load.
class WalkWatcher {
public:
    virtual ~WalkWatcher() = default;
    virtual void walker_load(PhysAddr address) = 0;
};

class CheckedPort : public Port {
public:
    explicit CheckedPort(const Platform& p) : platform_(p), queues_walks_(p.dram_queues_walks != 0) {
        for (size_t level = 0; level < load_cycles_.size(); ++level)
            load_cycles_[level] = walker_load_cycles(p, static_cast<MemoryLevel>(level));
    }

    /// From now on; null: nothing does.
    void watch(WalkWatcher* watcher) { watcher_ = watcher; }

    /// Before access(); before fetch(), with the page as address and program counter.
    void begin(const Access& access) {
        instruction_ = {access.pc, access.is_store};
        walk_ = background_ = Cycles(0);
        l1d_missed_ = false;
        memory_lines_.clear();
        loads_ = references_ = 0;
        lookup_cycles_ = 0;
        behind_l3_ = false;
    }
    /// After access() and fetch(): throws std::logic_error.
    void end_access(const Translated& translated, const Access& access) {
        const Translation found = translated.found;
        lookup_cycles_ = translated.lookup_cycles;
        if (lookup_cycles_ == Translated::platform_lookup)
            lookup_cycles_ = found == Translation::l1_hit ? 0 : uint32_t(platform_.stlb_hit_cycles);
        behind_l3_ = translated.place == Place::behind_l3;
        if (references_ != 1)
            broken("referenced the program's line " + std::to_string(references_) + " times in one access", access.address);
        if (behind_l3_ && found != Translation::l1_hit && level_ != MemoryLevel::dram)
            broken("translated behind L3 an access that a cache served", access.address);
        if (lookup_cycles_ > 0xffff)
            broken("gave a look-up of " + std::to_string(lookup_cycles_) + " cycles; the most are 65535", access.address);
        if (background_.value != 0 && found == Translation::l1_hit) broken("loaded in the background for an l1_hit", access.address);
        check_walk(found, access.address);
    }
    void end_fetch(Translation found, VirtAddr page) const {
        if (references_ != 0) broken("referenced a program line in fetch()", page);
        if (found == Translation::l1_hit) broken("returned l1_hit from fetch(): the page had missed the L1 ITLB", page);
        if (background_.value != 0) broken("loaded in the background in fetch()", page);
        check_walk(found, page);
    }

    Cycles walk() const { return walk_; }
    Cycles background() const { return background_; }
    uint32_t lookup_cycles() const { return lookup_cycles_; }
    bool behind_l3() const { return behind_l3_; }
    bool walk_l1d_missed() const { return l1d_missed_; }
    /// What the walk loaded from memory, in order; nothing unless dram.queues_walks.
    const std::vector<LineNumber>& walk_memory_lines() const { return memory_lines_; }
    MemoryLevel level() const { return level_; }     ///< that served the program's line
    PhysAddr physical() const { return physical_; }  ///< of the program's reference

protected:
    /// Of the access at hand.
    const Instruction& instruction() const { return instruction_; }

    /// Of a load of translation hardware.
    Cycles load_cycles(MemoryLevel level) const { return load_cycles_[static_cast<size_t>(level)]; }

    // What an engine reports: each load of a walk before and after it is served, what loads add to the walk of the access or happened in the
    // background, and the program's reference.
    void before_load(PhysAddr address) const {
        if (watcher_ != nullptr) watcher_->walker_load(address);
    }
    void after_load(PhysAddr address, LoadFrom from, MemoryLevel level) {
        l1d_missed_ |= from == LoadFrom::l1d && level != MemoryLevel::l1d;
        if (level == MemoryLevel::dram && queues_walks_) memory_lines_.push_back(line_of(address));
    }
    void add_to_walk(Cycles cycles) {
        if (loads_++ == 0) walk_ += Cycles(platform_.walker_begin_cycles);
        walk_ += cycles;
    }
    void add_to_background(Cycles cycles) { background_ += cycles; }
    MemoryLevel referenced(PhysAddr address, MemoryLevel level) {
        ++references_;
        physical_ = address;
        return level_ = level;
    }
    MemoryLevel checked(MemoryLevel level, PhysAddr address) const {
        if (level == MemoryLevel::dram) broken("probed or filled memory as if it were a cache", VirtAddr(address.value));
        return level;
    }

private:
    void check_walk(Translation found, VirtAddr address) const {
        if (loads_ != 0 && found != Translation::miss) broken("loaded page-table lines for a translation that is no miss", address);
    }
    [[noreturn]] void broken(const std::string& what, VirtAddr address) const {
        char text[32];
        std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(address.value));
        throw std::logic_error("design " + platform_.mmu_design.name + ", access to " + text + ": it " + what +
                               " (contract: mmu/design.h)");
    }

    const Platform& platform_;
    bool queues_walks_;
    std::array<Cycles, 4> load_cycles_;  ///< by level
    Instruction instruction_;
    WalkWatcher* watcher_ = nullptr;
    Cycles walk_, background_;
    uint32_t lookup_cycles_ = 0;
    bool l1d_missed_ = false, behind_l3_ = false;
    std::vector<LineNumber> memory_lines_;
    uint64_t loads_ = 0, references_ = 0;
    MemoryLevel level_ = MemoryLevel::l1d;
    PhysAddr physical_;
};

}  // namespace tessera::sim
