// preparation.h - the arguments of programs that can prepare their input, and what each of them asks for.
//
//   --prepare FILE        build the input once, by several threads, write it to FILE, and end
//   --check-prepared FILE compare every checksum of FILE, and end
//   --prepared FILE       load FILE instead of building
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/prepared_file.h"
#include "common/prepared_writer.h"
#include "common/program.h"

namespace tessera::workloads {

std::vector<Parameter> preparation_parameters();

/// What a preparation did besides writing.
struct Preparation {
    PreparedWriter& writer;
    unsigned threads;
    std::string complaint = {};  ///< empty: what was written is what the generators give
};

/// Adds the arguments to a program's table.
inline void add_preparation(std::vector<Parameter>& table) {
    for (const Parameter& parameter : preparation_parameters()) table.push_back(parameter);
}

/// Does what --prepare or --check-prepared ask for; nothing if neither is given. `most_bytes` bounds the file's size.
std::optional<Outcome> prepare_or_check(const std::string& program, const Arguments& arguments, const Shape& shape, uint64_t most_bytes,
                                        const std::function<void(Preparation&)>& prepare);

/// The file of --prepared, if it is given.
std::optional<PreparedFile> open_prepared(const std::string& program, const Arguments& arguments, const Shape& shape);

}  // namespace tessera::workloads
