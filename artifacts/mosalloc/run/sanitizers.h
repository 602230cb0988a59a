// sanitizers.h - recognizes programs whose sanitizer replaces malloc.
//
// The runtimes of AddressSanitizer, ThreadSanitizer, LeakSanitizer, MemorySanitizer and HWAddressSanitizer bring an
// allocator that maps memory by raw system calls: what the program allocates lies in no pool, under any layout. Besides,
// AddressSanitizer ends a program with another library in front of it, and LeakSanitizer one that is traced. The runtime of
// UndefinedBehaviorSanitizer leaves malloc alone, so such programs run.
#pragma once

#include <string>

namespace mosalloc::run {

/// The name of the sanitizer in an executable, with a shared or a static runtime; empty: none, or not an ELF file. A
/// stripped file is recognized too; one without section headers is not.
std::string sanitizer_of_file(const std::string& path);

/// The sanitizer that a list of libraries (the form of LD_PRELOAD) names; empty: none.
std::string sanitizer_of_list(const std::string& libraries);

/// The sanitizer in a process: of its executable, or of a library that was loaded into it; empty: none.
std::string sanitizer_of_process(int pid);

std::string why_not(const std::string& sanitizer);
std::string build_without(const std::string& sanitizer);

/// A traced process that had a sanitizer when it ended: the one with the layout, if it had, else the first.
struct Sanitized {
    std::string sanitizer;  ///< empty: none had
    std::string program;    ///< its executable
    bool has_layout = false;

    /// For each traced process at its end, before its memory goes away.
    void look(int pid, bool with_layout);
};

}  // namespace mosalloc::run
