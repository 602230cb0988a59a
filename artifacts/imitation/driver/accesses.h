// accesses.h - accesses of the program that the fast path does not allow: the processor's part, or a fault.
#pragma once

#include "driver/recorder.h"

namespace tessera::os {

class Accesses {
public:
    Accesses(const Scenario &scenario, Machine &machine, Recorder &recorder)
        : scenario_(scenario), machine_(machine), recorder_(recorder) {}

    /// `at`: of the block, with `index` accesses of it before this one; in_call: a call of the program makes it. Then kswapd runs, if the fault
    /// woke it. Throws Refusal: no area, out of memory, an empty pool of huge pages.
    void access(At at, uint64_t page, bool write, uint64_t index, bool in_call);
    /// The access crosses from `page` to the next one: both fault in order, and the instruction starts again until both allow it.
    void access_two(At at, uint64_t page, bool write, uint64_t index);
    uint64_t grown_files() const { return grown_files_; }

private:
    void make_fault(At at, At now, uint64_t page, bool write);
    fault resolve(uint64_t page, bool write);
    bool grow_file(uint64_t page);
    [[noreturn]] void out_of_memory(const std::string &asked) const;
    [[noreturn]] void refuse(const fault &found, uint64_t page, bool write) const;

    const Scenario &scenario_;
    Machine &machine_;
    Recorder &recorder_;
    uint64_t grown_files_ = 0;
};

}  // namespace tessera::os
