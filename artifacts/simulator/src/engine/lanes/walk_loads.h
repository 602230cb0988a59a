// walk_loads.h - the walker loads of a chunk that missed L3, where memory's queues want to know (dram.queues_walks).
#pragma once

#include "engine/lanes/storage.h"
#include "engine/outcome.h"

namespace tessera::sim::lanes::TESSERA_ISA {

class WalkLoads {
public:
    void clear() { used_ = 0; }
    __attribute__((noinline)) void add(uint32_t cycles_row, uint64_t line, uint64_t lanes) {
        if (used_ == loads_.size()) loads_.grow(2 * used_ + 256);
        loads_[used_++] = {cycles_row, line, lanes};
    }
    const WalkLoad* data() const { return loads_.data(); }
    size_t used() const { return used_; }

private:
    Array<WalkLoad> loads_;
    size_t used_ = 0;
};

}  // namespace tessera::sim::lanes::TESSERA_ISA
