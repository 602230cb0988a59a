// options.h - the environment of the library: one table, read once, before the program's first instruction.
#pragma once

namespace mosalloc {

struct Options {
    const char* layout = nullptr;    ///< MOSALLOC_LAYOUT: layout file; required
    const char* target = nullptr;    ///< MOSALLOC_TARGET: only this executable (path or name) gets the layout
    const char* pool_map = nullptr;  ///< MOSALLOC_POOL_MAP: file that shows the pools to other processes
    const char* prefault = "1";      ///< MOSALLOC_PREFAULT: 1 touches windows at start, 0 leaves it to the program
    const char* fallback = "0";      ///< MOSALLOC_ALLOW_FALLBACK: 1 keeps 4KB pages where huge ones can't be had
    const char* verbose = "0";       ///< MOSALLOC_VERBOSE: 1 prints the effective options and the pools
};

/// False when a value is not one of those the table allows; `bad` is then the variable's name.
bool read_options(char** environment, Options* out, const char** bad);

}  // namespace mosalloc
