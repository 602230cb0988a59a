// options.h - command line of mosalloc-run.
#pragma once

#include <string>
#include <vector>

#include "tessera/common/problem.h"

namespace mosalloc::run {

struct Options {
    std::string layout;
    std::string report;   ///< JSON file; empty: none
    std::string target;   ///< empty: the program itself
    std::string library;  ///< empty: libmosalloc.so beside mosalloc-run
    std::string analyze;  ///< JSON file; empty: none
    std::string count, counts;  ///< events file, and the file for their counts; both empty: nothing is counted
    std::string count_region;
    std::string hints, stacks, protections;
    unsigned interval_ms = 10;
    bool allow_fallback = false;
    bool prefault = true;
    bool verbose = false;
    std::vector<std::string> program;
};

/// Fills `out`. Returns -1 to go on, else the exit status (0 after --help, 2 after a wrong command line).
int parse_options(int count, char** arguments, Options* out);

/// Prints the problem; returns `status`.
int fail(int status, const tessera::Problem& problem);
inline int fail(int status, const std::string& asked, const std::string& found, const std::string& remedy) {
    return fail(status, tessera::Problem{asked, found, remedy});
}

}  // namespace mosalloc::run
