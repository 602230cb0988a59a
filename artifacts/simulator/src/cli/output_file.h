// output_file.h - an output file that an option names: tested before the run, and checked for completeness after it.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace tessera::sim {

/// The Failure (exit status 1) of a stream that a write to has failed, by errno; `what` is written there.
[[noreturn]] void write_failed(const std::string& what);

/// Writes what is buffered; throws Failure where that, or any write before, has failed.
void flush_or_fail(std::FILE* stream, const std::string& what);

class OutputFile {
public:
    /// Opens `path`, the value of `option`; throws Refusal where that fails or `path` is one of the `inputs`, which it would empty.
    OutputFile(const std::string& option, const std::string& path, const std::vector<std::string>& inputs);

    std::FILE* stream() const { return file_.get(); }
    void flush() const { flush_or_fail(file_.get(), what_); }
    /// Throws Failure if the file is not complete. Without close(), nothing checks this.
    void close();

private:
    std::string what_;
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_{nullptr, std::fclose};
};

}  // namespace tessera::sim
