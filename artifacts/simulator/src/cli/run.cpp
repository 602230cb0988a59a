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
#include "engine/read_ahead.h"

namespace tessera::sim {
namespace {

std::string one_line(std::string message) {
    for (size_t at; (at = message.find("\n  what to do: ")) != std::string::npos;) message.replace(at, 15, "; what to do: ");
    return message;
}

/// Writes finished layouts: the row to stdout, the units to the file of --interval-out. It flushes the units before the
/// row, so that a program that sees a row also finds its units.
class Output {
public:
    /// `inputs`: files that the units must not be written over.
    Output(size_t count, const std::string& units_path, const std::vector<std::string>& inputs)
        : rows_(count, [this](const std::string& text) { emit(text); }) {
        if (!units_path.empty()) {
            units_.emplace("--interval-out", units_path, inputs);
            write_units(unit_header() + "\n");
        }
        write_row(row_header() + "\n");
    }
    void put(size_t place, const Row& row, const std::string& units) { rows_.put(place, units + '\0' + format_row(row)); }
    void flush() { rows_.flush(); }
    size_t emitted() const { return emitted_; }

private:
    static void write_row(const std::string& text) {
        std::fputs(text.c_str(), stdout);
        flush_or_fail(stdout, "standard output");
    }
    void write_units(const std::string& text) {
        std::fputs(text.c_str(), units_->stream());
        units_->flush();
    }
    void emit(const std::string& text) {
        const size_t end = text.find('\0');
        if (units_) write_units(text.substr(0, end));
        write_row(text.substr(end + 1) + "\n");
        ++emitted_;
    }

    std::optional<OutputFile> units_;
    InOrder rows_;
    size_t emitted_ = 0;
};

struct Listed {
    size_t place;  // in the list
    Layout layout;
};

/// The layouts that can be simulated; the others become failed rows at once.
std::vector<Listed> read_layouts(const std::vector<std::string>& paths, const std::vector<trace::Pool>& pools, Output& output) {
    std::vector<Listed> layouts;
    for (size_t place = 0; place < paths.size(); ++place) {
        try {
            layouts.push_back({place, read_layout(paths[place], pools)});
        } catch (const Refusal& refusal) {
            output.put(place, failed_row(layout_name(paths[place]), one_line(refusal.what())), "");
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
    const auto paths = layout_paths(options["layouts"]);
    const size_t threads = options.whole("threads", 1), asked_group = options["group"] == "auto" ? 0 : options.whole("group", 1);
    FileStream first(options["trace"]);
    const trace::Header header = first.header();
    const SamplePlan plan = plan_of(options, header);
    const uint64_t warm_passes = options.whole("warm-passes", 0);
    catch_signals();

    std::vector<std::string> inputs = paths;
    for (const char* key : {"trace", "platform", "layouts", "interval-file"}) inputs.push_back(options[key]);
    Output output(paths.size(), options["interval-out"], inputs);
    const std::vector<Listed> layouts = read_layouts(paths, header.pools, output);
    const Division division = divide(layouts.size(), threads, asked_group, engine->most_layouts(), engine->has_runtime());
    Progress progress(header.accesses * layouts.size() * (1 + warm_passes));
    Crew crew;
    const auto simulate_group = [&](size_t worker, size_t group) {
        const size_t begin = group * division.group, end = std::min(begin + division.group, layouts.size());
        FileStream file(options["trace"]);
        ReadAhead ahead(file);
        Stream& stream = worker < division.read_ahead ? static_cast<Stream&>(ahead) : file;
        Request request{platform, stream, plan, {}, warm_passes};
        for (size_t i = begin; i < end; ++i) request.layouts.push_back(&layouts[i].layout);
        request.progress = [&](uint64_t accesses) {
            if (signal_received() != 0 || crew.failed()) throw Stopped();
            progress.add(accesses * (end - begin));
        };
        const auto counts = make_engine(options["engine"])->run(request);
        for (size_t i = begin; i < end; ++i) {
            const Layout& layout = layouts[i].layout;
            const LayoutCounts& found = counts[i - begin];
            output.put(layouts[i].place, estimate_row(layout, found, header, plan, engine->has_runtime(), platform.l1i.entries > 0),
                       format_units(layout, found, plan, engine->has_runtime()));
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
