// SPDX-License-Identifier: GPL-2.0-only
#include "settings.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string_view>

#include "event_buffers.h"
#include "marker.h"
#include "tessera/common/error.h"
#include "tessera/common/numbers.h"

namespace tessera::tracer {
namespace {

[[noreturn]] void refuse(const std::string& path, const std::string& line, const std::string& found) {
    throw Error("settings " + path + ", line '" + line + "'", found,
                "use the keys out, program, pool_map, roi (auto, markers, whole, skip:N, switch:FILE, "
                "closed:NAME, written:NAME), max_accesses, threads, kernel_accesses, fixed_clocks, events, "
                "stop_when_recorded, count_region (0, 1), thread (first, busiest, N), "
                "windows, window_accesses, gap_accesses; "
                "`tessera trace record` writes this file");
}

bool set_roi(std::string_view value, Settings& settings) {
    constexpr std::string_view skip = "skip:", control = "switch:", closed = "closed:", written = "written:";
    if (value == "auto") settings.roi = Roi::automatic;
    else if (value == "markers") settings.roi = Roi::markers;
    else if (value == "whole") settings.roi = Roi::whole;
    else if (value.starts_with(skip)) {
        settings.roi = Roi::skip;
        return read_number(value.substr(skip.size()), settings.skip_accesses);
    } else if (value.starts_with(control)) {
        settings.roi = Roi::control;
        settings.control = value.substr(control.size());
        return !settings.control.empty();
    } else if (value.starts_with(closed) || value.starts_with(written)) {
        settings.roi = value.starts_with(closed) ? Roi::closed : Roi::written;
        settings.file = value.substr(value.find(':') + 1);
        return !settings.file.empty() && settings.file.find('/') == std::string::npos;
    } else return false;
    return true;
}

bool set_thread(std::string_view value, Settings& settings) {
    uint64_t number = 0;
    if (value == "first") settings.choice = Choice::first;
    else if (value == "busiest") settings.choice = Choice::busiest;
    else if (read_number(value, number)) settings.choice = Choice::number, settings.thread = static_cast<unsigned>(number);
    else return false;
    return true;
}

bool set_flag(std::string_view value, bool& flag) {
    flag = value == "1";
    return value == "0" || value == "1";
}

bool set(const std::string& key, const std::string& value, Settings& settings) {
    if (key == "out") settings.out = value;
    else if (key == "program") settings.program = value;
    else if (key == "pool_map") settings.pool_map = value;
    else if (key == "roi") return set_roi(value, settings);
    else if (key == "thread") return set_thread(value, settings);
    else if (key == "threads") return set_flag(value, settings.threads);
    else if (key == "kernel_accesses") return set_flag(value, settings.kernel_accesses);
    else if (key == "fixed_clocks") return set_flag(value, settings.fixed_clocks);
    else if (key == "events") return set_flag(value, settings.events);
    else if (key == "stop_when_recorded") return set_flag(value, settings.stop_when_recorded);
    else if (key == "max_accesses") return read_number(value, settings.max_accesses);
    else if (key == "count_region") return set_flag(value, settings.count_region);
    else if (key == "windows") return read_number(value, settings.windows);
    else if (key == "window_accesses") return read_number(value, settings.window_accesses);
    else if (key == "gap_accesses") return read_number(value, settings.gap_accesses);
    else return false;
    return true;
}

/// Which rule of windows is broken; empty if none.
std::string wrong_windows(const Settings& settings) {
    if (settings.windows == 1 && !settings.count_region) return {};
    if (!settings.count_region) return "other numbers than 1 need count_region=1";
    if (settings.threads || settings.roi == Roi::control) return "counting works for one thread, and not with roi=switch:FILE";
    if (settings.windows > 1 && (settings.window_accesses == 0 || settings.gap_accesses < min_gap_accesses))
        return "several windows need window_accesses, and gap_accesses of at least " + std::to_string(min_gap_accesses);
    return {};
}

}  // namespace

Settings read_settings(const std::string& path) {
    std::ifstream in(path);
    if (!in) refuse(path, "", "the plugin cannot read the file");
    Settings settings;
    for (std::string line; std::getline(in, line);) {
        const size_t equals = line.find('=');
        if (equals == std::string::npos) refuse(path, line, "no '='");
        if (!set(line.substr(0, equals), line.substr(equals + 1), settings)) refuse(path, line, "unknown key or value");
    }
    if (settings.out.empty()) refuse(path, "", "the line 'out=<trace>' is missing");
    if (settings.events && settings.pool_map.empty())
        refuse(path, "events=1", "events lie in pools, so the line 'pool_map=<file>' is needed");
    if (const std::string wrong = wrong_windows(settings); !wrong.empty())
        refuse(path, "windows=" + std::to_string(settings.windows), wrong);
    return settings;
}

bool has_begin_marker(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(in)), {});
    const std::string_view marker(reinterpret_cast<const char*>(begin_marker), sizeof begin_marker);
    return bytes.find(marker) != std::string::npos;
}

}  // namespace tessera::tracer
