// output.h - the files of --report and --analyze: tests before the run that they can be written, and after it that
// they are complete.
#pragma once

#include <cstdio>
#include <string>

namespace mosalloc::run {

/// True if `path` can be opened for writing; else errno gives the reason. Leaves no new file behind.
bool can_write(const std::string& path);

/// Closes `file`. Returns false with errno set if this or an earlier write failed (a full disk), and deletes the file.
bool close_whole(FILE* file, const std::string& path);

}  // namespace mosalloc::run
