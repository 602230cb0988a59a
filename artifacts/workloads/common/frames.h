// frames.h - reads the physical frames of a program's pages from /proc/self/pagemap.
//
// Processors may keep neighbouring 4KB pages in one TLB entry when their frames are neighbours too, so a measured
// TLB reach means little without this. Only a process with CAP_SYS_ADMIN can read frame numbers; other processes
// read zeros, and then `known` is false. Under a hypervisor these are the guest's frames.
#pragma once

#include <cstdint>
#include <fstream>
#include <vector>

namespace tessera::workloads {

struct Frames {
    bool known = false;
    double contiguous = 0;         ///< share of pages whose frame is the one after the previous page's
    double aligned_runs_of_8 = 0;  ///< share of aligned groups of 8 pages in 8 contiguous, aligned frames
};

/// Shares over consecutive frame numbers; 0 is no frame.
inline Frames shares_of(const std::vector<uint64_t>& frames) {
    Frames found;
    uint64_t next = 0, runs = 0;
    for (size_t i = 0; i < frames.size(); ++i) {
        if (frames[i] == 0) return {};
        if (i > 0 && frames[i] == frames[i - 1] + 1) ++next;
        if (i % 8 != 7 || frames[i - 7] % 8 != 0) continue;
        bool whole = true;
        for (size_t k = i - 6; k <= i; ++k) whole &= frames[k] == frames[k - 1] + 1;
        runs += whole;
    }
    if (frames.size() < 8) return {};
    found.known = true;
    found.contiguous = double(next) / double(frames.size() - 1);
    found.aligned_runs_of_8 = double(runs) / double(frames.size() / 8);
    return found;
}

/// The frames of `pages` 4KB pages that begin at `start`.
inline Frames frames_of(const void* start, uint64_t pages) {
    std::ifstream file("/proc/self/pagemap", std::ios::binary);
    if (!file.seekg(static_cast<std::streamoff>(reinterpret_cast<uint64_t>(start) / 4096 * 8))) return {};
    std::vector<uint64_t> entries(pages);
    if (!file.read(reinterpret_cast<char*>(entries.data()), static_cast<std::streamsize>(pages * 8))) return {};
    for (uint64_t& entry : entries) entry &= (uint64_t{1} << 55) - 1;
    return shares_of(entries);
}

}  // namespace tessera::workloads
