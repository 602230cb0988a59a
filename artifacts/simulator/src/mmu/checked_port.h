// checked_port.h - records the references of one access through its Port and checks the contract of the design.
//
// Engines derive from it and implement which level serves a line. A design that breaks the contract of mmu/design.h is a
// bug and raises std::logic_error, because its counts would look plausible.
//
// A walk is a translation that misses and has walker loads. It takes walker.begin_cycles, and then the times of its loads. A
// design's miss without walker loads is no walk and takes no time.
#pragma once

#include <stdexcept>
#include <vector>

#include "mmu/design.h"

namespace tessera::sim {

class CheckedPort : public Port {
public:
    explicit CheckedPort(const Platform& p) : platform_(p) {}

    MemoryLevel walker_load(PhysAddr address) final {
        const MemoryLevel level = serve_walker(line_of(address));
        if (loads_++ == 0) walk_ += Cycles(platform_.walker_begin_cycles);
        walk_ += walker_load_cycles(platform_, level);
        l1d_missed_ |= level != MemoryLevel::l1d;
        if (level == MemoryLevel::dram && platform_.dram_queues_walks != 0) memory_lines_.push_back(line_of(address));
        return level;
    }
    MemoryLevel program(PhysAddr address) final {
        ++references_;
        physical_ = address;
        return level_ = serve_program(line_of(address));
    }

    /// Before access() or fetch().
    void begin() {
        walk_ = Cycles(0);
        l1d_missed_ = false;
        memory_lines_.clear();
        loads_ = references_ = 0;
    }
    /// After access() and fetch(): throws std::logic_error.
    void check_access(Translation found) const {
        if (references_ != 1)
            throw std::logic_error("a design referenced the program's line " + std::to_string(references_) + " times in one access");
        check_walk(found);
    }
    void check_fetch(Translation found) const {
        if (references_ != 0) throw std::logic_error("a design referenced a program line in fetch()");
        if (found == Translation::l1_hit) throw std::logic_error("a design's fetch() returned l1_hit: the page had missed the L1 ITLB");
        check_walk(found);
    }

    Cycles walk() const { return walk_; }
    bool walk_l1d_missed() const { return l1d_missed_; }
    /// What the walk loaded from memory, in order; nothing unless dram.queues_walks.
    const std::vector<LineNumber>& walk_memory_lines() const { return memory_lines_; }
    MemoryLevel level() const { return level_; }     ///< that served the program's line
    PhysAddr physical() const { return physical_; }  ///< of the program's reference

protected:
    virtual MemoryLevel serve_walker(LineNumber line) = 0;
    virtual MemoryLevel serve_program(LineNumber line) = 0;

private:
    void check_walk(Translation found) const {
        if (loads_ != 0 && found != Translation::miss) throw std::logic_error("a design loaded page-table lines for a translation that is no miss");
    }

    const Platform& platform_;
    Cycles walk_;
    bool l1d_missed_ = false;
    std::vector<LineNumber> memory_lines_;
    uint64_t loads_ = 0, references_ = 0;
    MemoryLevel level_ = MemoryLevel::l1d;
    PhysAddr physical_;
};

}  // namespace tessera::sim
