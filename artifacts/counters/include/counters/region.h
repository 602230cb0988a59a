/* region.h - the page that the program's hook and the launcher share: what happened to the counted region.
 *
 * The environment variable TESSERA_ROI_FDS is `KIND,PAGE,FIRST,COUNT`: the kind of region (`roi` or `program`), the
 * descriptor of this page, and COUNT descriptors of events from FIRST on. All but the last count alone. The last is the
 * leader of the group if there is one. Enabling goes from the first to the last, disabling back.
 */
#pragma once

#include <cstdint>

namespace tessera::counters {

constexpr char kRegionVariable[] = "TESSERA_ROI_FDS";
constexpr uint64_t kRegionMagic = 0x314e4f4947455254; /* "TREGION1", little endian */

/// kEnding: one thread switches the counters off. An end marker of another thread is then outside of the region.
enum RegionState : uint32_t { kClosed = 0, kOpen = 1, kEnding = 2 };

/// All fields are changed atomically: threads and forked children share the page.
struct RegionPage {
    uint64_t magic;
    uint64_t begin_ns;         ///< CLOCK_MONOTONIC_RAW when the open region began
    uint64_t region_ns;        ///< sum over the regions that ended
    uint32_t loaded;           ///< processes in which the hook started
    uint32_t begin_markers, end_markers;  ///< patched, over all these processes
    uint32_t begun, ended;     ///< regions
    uint32_t open;             ///< a RegionState
    uint32_t nested;           ///< begin markers inside an open region
    uint32_t stray;            ///< end markers outside of a region
    int32_t patch_errno;       ///< why the first marker that could not be patched was not; 0: none
    int32_t control_errno;     ///< why the first event that could not be enabled or disabled was not; 0: none
};

}  // namespace tessera::counters
