// run.cpp - `tessera-sim run`: every layout of a list, a group at a time, rows as soon as a group is done.
#include <algorithm>
#include <cstdio>

#include "base/error.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/progress.h"
#include "engine/estimate.h"

namespace tessera::sim {
namespace {

std::vector<std::string> layout_paths(const std::string& list) {
    std::vector<std::string> paths;
    const std::string text = read_text(list, "list of layouts");  // outlives the views that split() returns
    for (std::string_view line : split(text, '\n'))
        if (const auto path = trim(line); !path.empty()) paths.emplace_back(path);
    if (paths.empty()) throw Refusal("list of layouts " + list, "empty", "write the path of one layout CSV a line");
    return paths;
}

size_t group_size(const std::string& text, const Engine& engine) {
    const auto asked = parse_unsigned(text);
    if (!asked || *asked == 0) throw Refusal("--group " + text, "no positive whole number", "--group 16 suits the fast engines");
    return std::min<size_t>(*asked, engine.most_layouts());
}

void emit(const Row& row) {
    std::puts(format_row(row).c_str());
    std::fflush(stdout);
}

std::string one_line(std::string message) {
    for (size_t at; (at = message.find("\n  what to do: ")) != std::string::npos;) message.replace(at, 15, "; what to do: ");
    return message;
}

}  // namespace

int run_command(int argc, char** argv) {
    const Options options("run", argc, argv, {"trace", "platform", "layouts", "engine"}, {{"sampling", "full"}, {"group", "16"}});
    const auto engine = make_engine(options["engine"]);
    const Platform platform = read_platform(options["platform"]);
    const Sampling sampling = parse_sampling(options["sampling"]);
    const auto paths = layout_paths(options["layouts"]);
    const size_t group = group_size(options["group"], *engine);
    FileStream stream(options["trace"]);
    const trace::Header& header = stream.header();
    const SamplePlan plan(sampling, header);

    std::puts(row_header().c_str());
    std::vector<Layout> layouts;
    for (const std::string& path : paths) {
        try {
            layouts.push_back(read_layout(path, header.pools));
        } catch (const Refusal& refusal) {
            emit(failed_row(layout_name(path), one_line(refusal.what())));
        }
    }
    Progress progress(header.accesses * layouts.size());
    for (size_t begin = 0; begin < layouts.size(); begin += group) {
        const size_t end = std::min(begin + group, layouts.size());
        Request request{platform, stream, plan, {}};
        for (size_t i = begin; i < end; ++i) request.layouts.push_back(&layouts[i]);
        request.progress = [&](uint64_t accesses) { progress.add(accesses * (end - begin)); };
        const auto counts = engine->run(request);
        for (size_t i = begin; i < end; ++i)
            emit(estimate_row(layouts[i], counts[i - begin], header, plan, engine->has_runtime()));
    }
    progress.finish();
    return 0;
}

}  // namespace tessera::sim
