// SPDX-License-Identifier: GPL-2.0-only
// settings.h - what to record, read from a file of `key=value` lines.
//
// Settings come in a file, because QEMU splits plugin arguments at commas, and command lines contain commas.
#pragma once

#include <cstdint>
#include <string>

namespace tessera::tracer {

enum class Roi {
    automatic,  ///< markers if the program's file holds one, else whole
    markers,    ///< between the markers of roi.h
    whole,      ///< from the first instruction of the program's own code to its end
    skip,       ///< like whole, after so many accesses
    control,    ///< while the companion process has the switch on, see control.h
    closed,     ///< after the program closed a file, to its end, see file_event.h
    written,    ///< after its first write to a file, to its end
};

enum class Choice { first, busiest, number };

struct Settings {
    std::string out;           ///< the trace
    std::string program;       ///< command line for the header
    std::string pool_map;      ///< libmosalloc's pool map; empty: the trace has no pools
    Roi roi = Roi::automatic;
    uint64_t skip_accesses = 0;
    std::string control;       ///< file of Roi::control
    std::string file;          ///< name of the file of Roi::closed and Roi::written
    uint64_t max_accesses = 0; ///< 0: no limit
    bool threads = false;      ///< the program starts threads (plugin.cpp says what changes)
    Choice choice = Choice::first;    ///< which thread is recorded
    unsigned thread = 0;              ///< for Choice::number
    bool kernel_accesses = false;     ///< model what system calls do (syscalls.h)
    bool fixed_clocks = false;        ///< clocks are part of the fixed results (fixed_results.h)
    bool events = false;              ///< the program's calls to memory management (program_events.h)
    bool stop_when_recorded = false;  ///< end the program when the limit is reached
    bool count_region = false;        ///< count the accesses of the whole region, recorded or not (window.h)
    uint64_t windows = 1;             ///< 0: only count
    uint64_t window_accesses = 0;     ///< in each of several windows
    uint64_t gap_accesses = 0;        ///< from the end of a window to the next one; 0: one window
};

/// Throws Error naming the file and the line.
Settings read_settings(const std::string& path);

/// Whether the file at `path` holds a begin marker.
bool has_begin_marker(const std::string& path);

}  // namespace tessera::tracer
