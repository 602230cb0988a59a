// options.h - the environment of the library: one table, read once, before the program's first instruction.
#pragma once

#include "core/policy.h"
#include "core/text.h"

namespace mosalloc {

struct Options {
    const char* layout = nullptr;      ///< MOSALLOC_LAYOUT: layout file; required
    const char* target = nullptr;      ///< MOSALLOC_TARGET: only this executable (path or name) gets the layout
    const char* starters = "0";        ///< MOSALLOC_STARTERS: 1 gives the layout to the first program that is no starter
    const char* pool_map = nullptr;    ///< MOSALLOC_POOL_MAP: file that shows the pools to other processes
    const char* prefault = "1";        ///< MOSALLOC_PREFAULT: 1 touches windows at start, 0 maps them on demand
    const char* fallback = "0";        ///< MOSALLOC_ALLOW_FALLBACK: 1 uses 4KB pages where huge pages are missing
    const char* reservations = nullptr;  ///< MOSALLOC_RESERVATIONS: who serves those that the pool has no room for: kernel, or refuse
    const char* thp = "kernel";        ///< MOSALLOC_THP: off runs the target without transparent huge pages; the launcher sets it
    const char* verbose = "0";         ///< MOSALLOC_VERBOSE: 1 prints the effective options and the pools
    const char* hints = "kernel";      ///< MOSALLOC_HINTS: who serves mmap with an address hint: kernel, pool
    const char* stacks = "kernel";     ///< MOSALLOC_STACKS: where MAP_STACK memory lies: kernel, pool
    const char* protections = "guards";  ///< MOSALLOC_PROTECTIONS inside huge pages: soft, guards, exact (policy.h)
    const char* keep = "1073741824";   ///< MOSALLOC_KEEP_BYTES: on demand, unused huge pages that stay mapped

    bool is(const char* Options::* option, const char* value) const { return same_text(this->*option, value); }
    Policy policy() const;
};

/// Returns false if a value is not one that the table allows; `bad` is then the variable's name and `allowed` lists
/// its possible values.
bool read_options(char** environment, Options* out, const char** bad, const char** allowed);

}  // namespace mosalloc
