// storage.h - the disk behind files and swap: how much is read and written, and how long it takes (disk/disk.h).
//
// Time here is that of the disk alone: a read begins when the one before it is done, a write does not wait. No decision depends on it.
// Swap that is synchronous (zram) asks no disk.
#pragma once

#include <string>

#include "driver/imitation.h"

namespace tessera::os {

class Storage {
public:
    /// `model`: of disk/disk.h, with its default parameters. Throws Refusal.
    explicit Storage(const std::string &model);
    ~Storage();
    Storage(const Storage &) = delete;

    /// After the system has its swap.
    void attach(vm_system &system, bool swap_has_disk);
    const disk_counts &counts() const { return disk_.counts; }

private:
    static void read_file(void *context, uint32_t file, uint64_t index, uint32_t pages);
    static void transfer(void *context, bool write, uint32_t slot, uint32_t frame);
    void read(uint64_t byte, uint64_t bytes) { now_ns_ = disk_read(&disk_, now_ns_, byte, bytes); }

    disk disk_{};
    uint64_t now_ns_ = 0;
};

}  // namespace tessera::os
