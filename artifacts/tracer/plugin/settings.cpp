// SPDX-License-Identifier: GPL-2.0-only
#include "settings.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string_view>

#include "marker.h"

namespace tessera::tracer {
namespace {

[[noreturn]] void refuse(const std::string& path, const std::string& line, const std::string& found) {
    throw std::runtime_error("settings " + path + ", line '" + line + "': " + found +
                             "\n  what to do: keys are out, program, pool_map, roi (auto, markers, whole), max_accesses, threads (0, 1); "
                             "`tessera trace record` writes this file");
}

}  // namespace

Settings read_settings(const std::string& path) {
    std::ifstream in(path);
    if (!in) refuse(path, "", "the file cannot be read");
    Settings settings;
    for (std::string line; std::getline(in, line);) {
        const size_t equals = line.find('=');
        if (equals == std::string::npos) refuse(path, line, "no '='");
        const std::string key = line.substr(0, equals), value = line.substr(equals + 1);
        if (key == "out") settings.out = value;
        else if (key == "program") settings.program = value;
        else if (key == "pool_map") settings.pool_map = value;
        else if (key == "threads" && (value == "0" || value == "1")) settings.threads = value == "1";
        else if (key == "roi" && value == "auto") settings.roi = Roi::automatic;
        else if (key == "roi" && value == "markers") settings.roi = Roi::markers;
        else if (key == "roi" && value == "whole") settings.roi = Roi::whole;
        else if (key == "max_accesses") {
            const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), settings.max_accesses);
            if (error != std::errc{} || end != value.data() + value.size()) refuse(path, line, "not a number");
        } else refuse(path, line, "unknown key or value");
    }
    if (settings.out.empty()) refuse(path, "", "no line 'out=<trace>'");
    return settings;
}

bool has_begin_marker(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(in)), {});
    const std::string_view marker(reinterpret_cast<const char*>(begin_marker), sizeof begin_marker);
    return bytes.find(marker) != std::string::npos;
}

}  // namespace tessera::tracer
