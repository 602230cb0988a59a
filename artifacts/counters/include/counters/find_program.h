// find_program.h - the file behind the name of a program.
#pragma once

#include <string>

namespace tessera::counters {

/// The file that execvp would run; empty if there is none.
std::string find_program(const std::string& name);

}  // namespace tessera::counters
