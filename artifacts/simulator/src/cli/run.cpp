// run.cpp - `tessera-sim run`: every layout of a list, in groups, each row as soon as it and those before it are done.
#include <algorithm>
#include <cstdio>
#include <optional>

#include "base/error.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/groups.h"
#include "cli/interrupt.h"
#include "cli/output_file.h"
#include "cli/progress.h"
#include "cli/run_request.h"
#include "engine/estimate.h"
#include "engine/functional.h"
#include "engine/read_ahead.h"
#include "mmu/components.h"
#include "os/mapping.h"

namespace tessera::sim {
namespace {

std::string one_line(std::string message) {
    for (size_t at; (at = message.find("\n  what to do: ")) != std::string::npos;) message.replace(at, 15, "; what to do: ");
    return message;
}

/// Writes finished layouts: the row to stdout, units and structures to the files of --interval-out and --designs-out. It flushes
/// these before the row, so that a program that sees a row also finds what belongs to it.
class Output {
public:
    /// `inputs`: files that must not be overwritten.
    Output(size_t count, const std::string& units_path, const std::string& designs_path, const std::vector<std::string>& inputs)
        : rows_(count, [this](const std::string& text) { emit(text); }) {
        open(units_, "--interval-out", units_path, inputs, unit_header());
        open(designs_, "--designs-out", designs_path, inputs, design_header());
        write_row(row_header() + "\n");
    }
    void put(size_t place, const Row& row, const std::string& units, const std::string& designs) {
        rows_.put(place, units + '\0' + designs + '\0' + format_row(row));
    }
    void flush() { rows_.flush(); }
    size_t emitted() const { return emitted_; }

private:
    static void write_row(const std::string& text) {
        std::fputs(text.c_str(), stdout);
        flush_or_fail(stdout, "standard output");
    }
    static void open(std::optional<OutputFile>& file, const char* option, const std::string& path, const std::vector<std::string>& inputs,
                     const std::string& header) {
        if (path.empty()) return;
        file.emplace(option, path, inputs);
        write(file, header + "\n");
    }
    static void write(std::optional<OutputFile>& file, const std::string& text) {
        if (!file) return;
        std::fputs(text.c_str(), file->stream());
        file->flush();
    }
    void emit(const std::string& text) {
        const size_t units_end = text.find('\0'), designs_end = text.find('\0', units_end + 1);
        write(units_, text.substr(0, units_end));
        write(designs_, text.substr(units_end + 1, designs_end - units_end - 1));
        write_row(text.substr(designs_end + 1) + "\n");
        ++emitted_;
    }

    std::optional<OutputFile> units_, designs_;
    InOrder rows_;
    size_t emitted_ = 0;
};

struct Listed {
    size_t place;  // in the list
    Layout layout;
};

/// The layouts that can be simulated; the others become failed rows at once.
std::vector<Listed> read_layouts(const std::vector<std::string>& paths, bool mappings, const std::vector<trace::Pool>& pools, Output& output) {
    std::vector<Listed> layouts;
    for (size_t place = 0; place < paths.size(); ++place) {
        try {
            if (mappings) layouts.push_back({place, layout_of(std::make_shared<Mapping>(read_mapping(paths[place], pools)))});
            else layouts.push_back({place, read_layout(paths[place], pools)});
        } catch (const Refusal& refusal) {
            output.put(place, failed_row(layout_name(paths[place]), one_line(refusal.what())), "", "");
        }
    }
    return layouts;
}

int report_interruption(int signal, size_t done, size_t all) {
    std::fprintf(stderr,
                 "tessera-sim: run: stopped by signal %d with %zu of %zu layouts done; their rows are printed\n"
                 "  what to do: remove the finished layouts from the list and run again; or use `tessera simulate`, which keeps "
                 "finished rows, so that the same command resumes\n",
                 signal, done, all);
    return 128 + signal;
}

}  // namespace

int run_command(int argc, char** argv) {
    const Options options(run_help(), argc, argv);
    if (options.wants_help()) return 0;
    const auto engine = make_engine(options["engine"]);
    const Platform platform = read_platform(options["platform"]);
    const bool mappings = with_mappings(options);
    const auto paths = mappings ? layout_paths(options["mappings"], "mapping") : layout_paths(options["layouts"]);
    const size_t threads = options.whole("threads", 1), asked_group = options["group"] == "auto" ? 0 : options.whole("group", 1);
    FileStream first(options["trace"]);
    const trace::Header header = first.header();
    const SamplePlan plan = plan_of(options, header);
    const uint64_t warm_passes = options.whole("warm-passes", 0);
    check_components(platform);
    if (!plan.full() && !plan.chosen() && needs_caches(platform)) throw skipped_accesses(platform.mmu_design);
    catch_signals();

    std::vector<std::string> inputs = paths;
    for (const char* key : {"trace", "platform", "layouts", "mappings", "interval-file"}) inputs.push_back(options[key]);
    Output output(paths.size(), options["interval-out"], options["designs-out"], inputs);
    const std::vector<Listed> layouts = read_layouts(paths, mappings, header.pools, output);
    const Division division = divide(layouts.size(), threads, asked_group, engine->most_layouts(), engine->has_runtime());
    Progress progress(header.accesses * layouts.size() * (1 + warm_passes));
    Crew crew;
    const auto simulate = [&](size_t worker, size_t begin, size_t end, bool again) {
        FileStream file(options["trace"]);
        ReadAhead ahead(file);
        Stream& stream = worker < division.read_ahead ? static_cast<Stream&>(ahead) : file;
        Request request{platform, stream, plan, {}, warm_passes};
        for (size_t i = begin; i < end; ++i) request.layouts.push_back(&layouts[i].layout);
        request.progress = [&](uint64_t accesses) {
            if (signal_received() != 0 || crew.failed()) throw Stopped();
            if (!again) progress.add(accesses * (end - begin));
        };
        const auto counts = make_engine(options["engine"])->run(request);
        for (size_t i = begin; i < end; ++i) {
            const Layout& layout = layouts[i].layout;
            const LayoutCounts& found = counts[i - begin];
            output.put(layouts[i].place, estimate_row(layout, found, header, plan, engine->has_runtime(), platform.l1i.entries > 0),
                       format_units(layout, found, plan, engine->has_runtime()), format_design(layout, found, header));
        }
    };
    // What a mapping lacks shows only while it is used: a page without a row, too many segments for the design.
    const auto simulate_group = [&](size_t worker, size_t group) {
        const size_t begin = group * division.group, end = std::min(begin + division.group, layouts.size());
        try {
            return simulate(worker, begin, end, false);
        } catch (const Refusal&) {
            if (!mappings) throw;
        }
        for (size_t i = begin; i < end; ++i) try {
                simulate(worker, i, i + 1, true);
            } catch (const Refusal& refusal) {
                output.put(layouts[i].place, failed_row(layouts[i].layout.name, one_line(refusal.what())), "", "");
            }
    };
    try {
        crew.run((layouts.size() + division.group - 1) / division.group, division.workers, simulate_group);
    } catch (const Stopped&) {
        output.flush();
        return report_interruption(signal_received(), output.emitted(), paths.size());
    } catch (...) {
        output.flush();
        throw;
    }
    progress.finish();
    return 0;
}

}  // namespace tessera::sim
