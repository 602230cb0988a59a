// elf_check.h - can libmosalloc.so be preloaded into this file?
#pragma once

#include <string>

namespace mosalloc::run {

struct Refusal {
    std::string found;  ///< empty: nothing speaks against it
    std::string remedy;
};

/// The dynamic linker ignores LD_PRELOAD in static programs and drops it from set-user-ID ones (AT_SECURE);
/// the program would then run, on other pages than asked.
Refusal check_program(const std::string& path);

/// The file that execvp would run; empty if there is none.
std::string find_program(const std::string& name);

}  // namespace mosalloc::run
