// run.cpp - `tessera-sim run`: every layout of a list under one platform or several, each row as soon as its pass is done.
#include <algorithm>
#include <cstdio>

#include "base/error.h"
#include "cli/commands.h"
#include "cli/groups.h"
#include "cli/interrupt.h"
#include "cli/passes.h"
#include "cli/progress.h"
#include "cli/run_output.h"
#include "cli/run_request.h"
#include "cli/usage.h"
#include "cli/variants.h"
#include "engine/functional.h"
#include "engine/read_ahead.h"
#include "engine/weave/woven_stream.h"
#include "mmu/components.h"
#include "os/os_log.h"

namespace tessera::sim {
namespace {

std::string one_line(std::string message) {
    for (size_t at; (at = message.find("\n  what to do: ")) != std::string::npos;) message.replace(at, 15, "; what to do: ");
    return message;
}

/// A layout of the list, or why it cannot be simulated.
struct Listed {
    std::string name;
    std::optional<Layout> layout;
    std::string refusal;
};

Layout read_pages(const std::string& path, PagesFrom from, const trace::Header& header) {
    if (from == PagesFrom::layouts) return read_layout(path, header.pools);
    return layout_of(std::make_shared<Mapping>(from == PagesFrom::logs ? read_os_log(path, header) : read_mapping(path, header.pools)));
}

std::vector<Listed> read_layouts(const std::vector<std::string>& paths, PagesFrom from, const trace::Header& header) {
    std::vector<Listed> layouts;
    for (const std::string& path : paths) try {
            Layout layout = read_pages(path, from, header);
            const std::string name = layout.name;
            layouts.push_back({name, std::move(layout), ""});
        } catch (const Refusal& refusal) {
            layouts.push_back({layout_name(path), std::nullopt, refusal.what()});
        }
    return layouts;
}

/// Refuses a platform that no run could have. With variants, this is found out for each of them (Engine::run_cells).
void check_platform(const Platform& platform, const SamplePlan& plan) {
    check_components(platform);
    if (plan.skips_accesses() && needs_caches(platform)) throw skipped_accesses(platform.mmu_design);
}

/// Number of its functional stage on the lanes, from 1. `known` gets the platform if no earlier one has the same stage.
size_t stage_of(const Platform& platform, std::vector<const Platform*>& known) {
    const auto same = std::find_if(known.begin(), known.end(), [&](const Platform* other) { return same_on_lanes(*other, platform); });
    const size_t number = size_t(same - known.begin()) + 1;
    if (same == known.end()) known.push_back(&platform);
    return number;
}

Passes passes_for(const std::vector<Variant>& variants, const std::vector<Listed>& layouts, bool mappings, const Engine& engine,
                  size_t threads, size_t asked_group) {
    std::vector<bool> variant_runs, layout_runs;
    std::vector<size_t> stage;
    std::vector<const Platform*> stages;  // one platform of each
    for (const Variant& variant : variants) {
        variant_runs.push_back(variant.platform.has_value());
        const bool on_lanes = !mappings && variant.platform && lanes_lack(*variant.platform).empty();
        stage.push_back(on_lanes ? stage_of(*variant.platform, stages) : 0);
    }
    for (const Listed& listed : layouts) layout_runs.push_back(listed.layout.has_value());
    return passes_of(variant_runs, stage, layout_runs, threads, asked_group, engine.most_layouts(), engine.has_runtime());
}

int report_interruption(int signal, size_t done, size_t all, bool variants) {
    std::fprintf(stderr,
                 "tessera-sim: run: stopped by signal %d with %zu of %zu %s done; their rows are printed\n"
                 "  what to do: remove the finished layouts from the list and run again; or use `tessera simulate`, which keeps "
                 "finished rows, so that the same command resumes\n",
                 signal, done, all, variants ? "cells" : "layouts");
    return 128 + signal;
}

}  // namespace

int run_command(int argc, char** argv) {
    const Usage usage;
    const Options options(run_help(), argc, argv);
    if (options.wants_help()) return 0;
    const auto engine = make_engine(options["engine"]);
    const std::vector<Variant> variants = variants_of(options);
    const bool with_variants = options.given("variants");
    const PagesFrom from = pages_from(options);
    const bool mappings = from != PagesFrom::layouts;  // of pages with frames
    const auto paths = from == PagesFrom::logs ? layout_paths(options["os"], "log")
                       : mappings              ? layout_paths(options["mappings"], "mapping")
                                               : layout_paths(options["layouts"]);
    const auto templates = templates_of(options, from, variants);
    const size_t threads = options.whole("threads", 1), asked_group = templates                    ? 1
                                                                      : options["group"] == "auto" ? 0
                                                                                                   : options.whole("group", 1);
    FileStream first(options["trace"]);
    const trace::Header header = first.header();
    const SamplePlan plan = plan_of(options, header);
    const bool check_tables = checks_tables(options, plan);
    check_fault_times(options, plan, engine->has_runtime());
    const uint64_t warm_passes = options.whole("warm-passes", 0);
    if (!with_variants) check_platform(*variants[0].platform, plan);
    catch_signals();

    std::vector<std::string> inputs = paths;
    for (const char* key : {"trace", "platform", "variants", "layouts", "mappings", "os", "weave", "interval-file"})
        inputs.push_back(options[key]);
    for (const Variant& variant : variants) inputs.push_back(variant.path);
    RunOutput output(paths.size() * variants.size(), with_variants,
                     {options["interval-out"], options["designs-out"], options["kernel-out"], options["fault-times-out"]}, inputs);
    std::optional<OutputFile> usage_file;
    if (options.given("usage-out")) usage_file.emplace("--usage-out", options["usage-out"], inputs);
    const std::vector<Listed> layouts = read_layouts(paths, from, header);
    const auto [cells, passes] = passes_for(variants, layouts, mappings, *engine, threads, asked_group);
    size_t running = 0;
    for (const auto& pass : passes) running += pass.size();
    const auto fail = [&](size_t place, const std::string& message) {
        output.put(place, variants[cells[place].variant].label, failed_row(layouts[cells[place].layout].name, one_line(message)), {});
    };
    for (size_t place = 0; place < cells.size(); ++place) {
        const Variant& variant = variants[cells[place].variant];
        const Listed& listed = layouts[cells[place].layout];
        if (!listed.layout) fail(place, listed.refusal);
        else if (!variant.platform) fail(place, variant.refusal);
    }

    Progress progress(header.accesses * running * (1 + warm_passes));
    Crew crew;
    const size_t workers = std::min(threads, std::max<size_t>(passes.size(), 1)), read_ahead = std::min(threads - workers, workers);
    const auto simulate_pass = [&, &cells = cells, &passes = passes](size_t worker, size_t pass) {
        FileStream file(options["trace"]);
        ReadAhead ahead(file);
        Stream& program = worker < read_ahead ? static_cast<Stream&>(ahead) : file;
        std::optional<weave::WovenStream> woven;  // of the only log of the pass
        if (templates) woven.emplace(program, *templates, options["weave"], layouts[cells[passes[pass].front()].layout].layout->mapping);
        CellsRequest request{woven ? static_cast<Stream&>(*woven) : program, plan, {}, warm_passes};
        for (const size_t place : passes[pass])
            request.cells.push_back({&*variants[cells[place].variant].platform, &*layouts[cells[place].layout].layout});
        request.check_tables = check_tables;
        request.progress = [&](uint64_t work) {
            if (signal_received() != 0 || crew.failed()) throw Stopped();
            progress.add(work);
        };
        const auto found = make_engine(options["engine"])->run_cells(request);
        for (size_t i = 0; i < found.size(); ++i) {
            const size_t place = passes[pass][i];
            const Platform& platform = *request.cells[i].platform;
            const Layout& layout = *request.cells[i].layout;
            const LayoutCounts& counts = found[i].counts;
            if (found[i].refusal && !mappings && !with_variants) throw *found[i].refusal;
            if (found[i].refusal) fail(place, found[i].refusal->what());
            else
                output.put(place, variants[cells[place].variant].label,
                           estimate_row(layout, counts, header, plan, engine->has_runtime(), platform.l1i.entries > 0),
                           {format_units(layout, counts, plan, engine->has_runtime()), format_design(layout, counts, header),
                            templates ? format_kernel(layout, counts, header, engine->has_runtime()) : "",
                            output.has_fault_times() ? weave::format_fault_times(layout, counts.kernel.faults, woven->faults()) : ""});
        }
    };
    const auto simulate = [&, &passes = passes](size_t worker, size_t pass) {
        try {
            simulate_pass(worker, pass);
        } catch (const Refusal& refusal) {
            if (!templates) throw;
            for (const size_t place : passes[pass]) fail(place, refusal.what());  // a log whose faults cannot be woven
        }
    };
    try {
        crew.run(passes.size(), workers, simulate);
    } catch (const Stopped&) {
        output.flush();
        return report_interruption(signal_received(), output.emitted(), cells.size(), with_variants);
    } catch (...) {
        output.flush();
        throw;
    }
    progress.finish();
    if (usage_file) {
        std::fprintf(usage_file->stream(), "%s\n%s\n", Usage::header().c_str(), usage.line().c_str());
        usage_file->close();
    }
    return 0;
}

}  // namespace tessera::sim
