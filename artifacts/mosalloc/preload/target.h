// target.h - children inherit LD_PRELOAD; only the program under study may get the layout.
#pragma once

namespace mosalloc {

/// True without a target, or if this process runs it: `target` with a slash is a file (compared as a file, so
/// symbolic links don't matter), without one it is the name of the executable or of argv[0].
bool is_target(const char* target, const char* argv0);

}  // namespace mosalloc
