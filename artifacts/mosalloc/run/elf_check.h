// elf_check.h - checks whether libmosalloc.so can be preloaded into an executable.
#pragma once

#include <string>

namespace mosalloc::run {

struct Refusal {
    std::string found;  ///< empty: it can be preloaded
    std::string remedy;
};

/// Static programs ignore LD_PRELOAD, the dynamic linker drops it for set-user-ID programs (AT_SECURE), and sanitizers
/// replace malloc. Such a program would run with other page sizes than requested.
Refusal check_program(const std::string& path);

}  // namespace mosalloc::run
