// target.h - which process gets the layout.
#pragma once

namespace mosalloc {

/// Whether this process is the one that MOSALLOC_TARGET names: a path (compared as a file) or a name.
bool is_target(const char* target, const char* argv0);

/// What the name of this process's executable says about it (mosalloc/starters.h).
enum class Kind { program, starter, shell };
Kind kind_of_program(const char* argv0);

/// Writes the path of this process's executable to `out`.
void own_path(char* out, unsigned long bytes);

}  // namespace mosalloc
