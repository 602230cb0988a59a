// claim.h - decides whether a program is the one to record, and builds the QEMU command that starts it.
//
// TESSERA_LAUNCH names a file. Its first line is the target executable; the other lines are the words that precede the
// program's argv[0], path and arguments. Programs are compared by device and inode, so links and relative paths work.
// The first start claims the recording (FILE.claimed). A second start is an error, because a trace holds one run.
#pragma once

namespace tessera::launch {

/// Returns the command to execute instead of (path, argv): a null-terminated list that is never freed, or nullptr to
/// execute `path` itself. Ends the process with a message and status 1 if the target is started a second time.
char** instead_of(const char* path, char* const argv[]);

/// `environment` without our own library in LD_PRELOAD; never freed.
char** without_preload(char* const environment[]);

/// The file that execvp would find for `name`; nullptr when there is none. Static storage.
const char* found_on_path(const char* name);

}  // namespace tessera::launch
