// run_program.h - runs one of the built programs as a user does.
#pragma once

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace tessera::workloads {

struct Finished {
    int status;
    std::string output;  // stdout and stderr
};

inline Finished run(const std::string& arguments) {
    const char* folder = std::getenv("WORKLOADS_BIN");  // set by ctest
    if (folder == nullptr) return {-1, "WORKLOADS_BIN is not set: run these tests with ctest"};
    const std::string command = std::string(folder) + "/" + arguments + " 2>&1";
    FILE* pipe = popen(command.c_str(), "r");
    if (pipe == nullptr) return {-1, "popen failed"};
    std::string output;
    std::array<char, 4096> buffer;
    while (const size_t got = fread(buffer.data(), 1, buffer.size(), pipe)) output.append(buffer.data(), got);
    const int status = pclose(pipe);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, output};
}

}  // namespace tessera::workloads
