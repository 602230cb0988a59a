// Files that --report and --analyze name: found out before the program runs whether they can be written, and checked to be whole.
#pragma once

#include <cstdio>
#include <string>

namespace mosalloc::run {

/// Whether `path` can be opened for writing; errno says why not. A file that was not there is not there afterwards.
bool can_write(const std::string& path);

/// Closes `file`; false, with errno set, where this or any write before failed (a full disk). Half a file is not left behind.
bool close_whole(FILE* file, const std::string& path);

}  // namespace mosalloc::run
