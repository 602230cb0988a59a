// commands.h - the commands of tessera-trace; each prints to stdout and throws on failure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tessera/trace/trace.h"

namespace tessera::trace::cli {

/// A wrong request (exit status 2).
struct UsageError : Error {
    using Error::Error;
};

void info(const std::string& path, bool json);
void verify(const std::string& path);
/// The static blocks, then the first `limit` accesses.
void dump(const std::string& path, uint64_t limit);
/// Writes the part of `in` from about `start_access` on, of about `accesses`, to `out` (cut at block executions).
void cut(const std::string& in, const std::string& out, uint64_t start_access, uint64_t accesses);

struct ImportOptions {
    std::optional<Pool> anon, heap;  ///< spans given by the user
    std::string program;             ///< name in the header; empty: the path
    uint64_t max_accesses = 0;       ///< read no further; 0: all
};
/// Returns what to tell the user: which share of accesses and pages is outside the pools, and where these pages lie.
std::string import_champsim(const std::string& in, const std::string& out, const ImportOptions& options);
void export_champsim(const std::string& in, const std::string& out);
/// Prints the program's calls to memory management, as text or as CSV.
void events(const std::string& in, bool csv);
/// Writes the first access to each 4KB page of the pools, in order, as CSV (`pool,page,access`).
void touches(const std::string& in, const std::string& out);

}  // namespace tessera::trace::cli
