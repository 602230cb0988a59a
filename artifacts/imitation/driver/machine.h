// machine.h - the simulated machine before the program begins: memory, pools, swap, page cache, and one empty process.
//
// A PC with all memory free (phys/memory_map.h): what a boot allocates is left out, and so is the kernel's own memory, except page
// tables and, if the scenario says so, the objects of areas. Order: pools of huge pages (as at boot), fragmentation of each zone above DMA, swap,
// the page cache (files are read in steps of 128KB, as `cat` does), the process. The root table has order 1, as with page-table isolation.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "driver/pinned.h"
#include "driver/scenario.h"
#include "driver/storage.h"

namespace tessera::os {

/// A file that the program maps.
struct KnownFile {
    uint32_t number;  ///< not 0
    uint64_t bytes;
};

class Machine {
public:
    /// Throws Refusal if memory cannot have this form.
    explicit Machine(const Scenario &scenario, const std::vector<KnownFile> &files = {});
    ~Machine();
    Machine(const Machine &) = delete;

    phys memory{};
    vm_system system{};
    ::process process{};
    /// What came of the scenario, for the log: zones and their indices, pools, page cache.
    std::vector<std::pair<std::string, std::string>> notes;

    uint64_t free_frames() const;
    const disk_counts &disk() const { return storage_.counts(); }
    const area_slabs *slabs() const { return scenario_.areas_cost ? &slabs_ : nullptr; }

private:
    void build(const std::vector<KnownFile> &files);
    void fill_pools();
    void fragment();
    void fill_cache(const std::vector<KnownFile> &files);
    void read(uint32_t file, uint64_t bytes);
    void take_down();

    const Scenario &scenario_;
    Storage storage_;
    std::vector<fragmenter_pins> pins_;
    Pinned pinned_;
    area_slabs slabs_{};
    bool has_slabs_ = false, has_process_ = false;
};

}  // namespace tessera::os
