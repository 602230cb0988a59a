// claim.h - is this the program that is to be recorded, and what starts it under QEMU?
//
// TESSERA_LAUNCH names a file: its first line is the target executable, the others are the words that go in
// front of the program's own argv[0], path and arguments. Programs are compared as files (device and inode), so links and
// relative paths count. The first start claims the recording (FILE.claimed); a second one is an error, because one trace
// is of one run.
#pragma once

namespace tessera::launch {

/// What to execute instead of (path, argv): a null-terminated list that is never freed, or nullptr to execute
/// `path` as it is. Ends the process with a message and status 1 when the target is started a second time.
char** instead_of(const char* path, char* const argv[]);

/// `environment` without our own library in LD_PRELOAD; never freed.
char** without_preload(char* const environment[]);

/// The file that execvp would find for `name`; nullptr when there is none. Static storage.
const char* found_on_path(const char* name);

}  // namespace tessera::launch
