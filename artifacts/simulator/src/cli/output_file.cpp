#include "cli/output_file.h"

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/error.h"

namespace tessera::sim {

void write_failed(const std::string& what) {
    throw Failure("write " + what, std::strerror(errno), "free disk space, or write elsewhere; then run the same command again");
}

void flush_or_fail(std::FILE* stream, const std::string& what) {
    if (std::fflush(stream) != 0 || std::ferror(stream) != 0) write_failed(what);
}

OutputFile::OutputFile(const std::string& option, const std::string& path, const std::vector<std::string>& inputs)
    : what_(option + " " + path) {
    for (const std::string& input : inputs) {
        std::error_code missing;
        if (std::filesystem::equivalent(input, path, missing))
            throw Refusal(what_, "this file is an input of the run: " + input, "name another file");
    }
    file_.reset(std::fopen(path.c_str(), "w"));
    if (!file_) throw Refusal(what_, std::string("cannot be written: ") + std::strerror(errno), "name a file in an existing folder");
}

void OutputFile::close() {
    flush();
    if (std::fclose(file_.release()) != 0) write_failed(what_);
}

}  // namespace tessera::sim
