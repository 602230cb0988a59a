// target.h - decides whether this process gets the layout. Children inherit LD_PRELOAD, but only the target gets it.
#pragma once

namespace mosalloc {

/// True without a target, or if this process runs it: `target` with a slash is a file (compared as a file, so
/// symbolic links don't matter), without one it is the name of the executable or of argv[0].
bool is_target(const char* target, const char* argv0);

}  // namespace mosalloc
