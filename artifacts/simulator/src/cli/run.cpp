// run.cpp - `tessera-sim run`: every layout of a list under one platform or several, each row as soon as its pass is done.
#include <algorithm>
#include <cstdio>

#include "base/error.h"
#include "cli/commands.h"
#include "cli/crew.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "cli/run_output.h"
#include "cli/run_request.h"
#include "cli/usage.h"
#include "cli/variants.h"
#include "engine/functional.h"
#include "engine/plan.h"
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

int report_interruption(int signal, size_t done, size_t all, bool variants) {
    std::fprintf(stderr,
                 "tessera-sim: run: stopped by signal %d with %zu of %zu %s done; their rows are printed\n"
                 "  what to do: remove the finished layouts from the list and run again; or use `tessera simulate`, which keeps "
                 "finished rows, so that the same command resumes\n",
                 signal, done, all, variants ? "cells" : "layouts");
    return 128 + signal;
}

template <class T>
std::vector<const T*> places_of(const auto& list, std::optional<T> std::remove_cvref_t<decltype(list[0])>::* member) {
    std::vector<const T*> places;
    for (const auto& item : list) places.push_back(item.*member ? &*(item.*member) : nullptr);
    return places;
}

/// One `tessera-sim run`: what it reads, the cells and their passes, and the rows that it writes.
class Run {
public:
    explicit Run(const Options& options)
        : options_(options),
          engine_(make_engine(options["engine"])),
          variants_(variants_of(options)),
          from_(pages_from(options)),
          paths_(layout_paths(options[list_option()], list_noun())),
          templates_(templates_of(options, from_, variants_)),
          threads_(options.whole("threads", 1)),
          asked_group_(templates_                   ? 1
                       : options["group"] == "auto" ? 0
                                                    : options.whole("group", 1)),
          first_(options["trace"]),
          header_(first_.header()),
          plan_(plan_of(options, header_)),
          check_tables_(checks_tables(options, plan_)),
          warm_passes_(options.whole("warm-passes", 0)) {
        check_timed_outputs(options, plan_, engine_->has_runtime());
        if (!with_variants()) check_platform(*variants_[0].platform, plan_);
        catch_signals();
        std::vector<std::string> inputs = paths_;
        for (const char* key : {"trace", "platform", "variants", "layouts", "mappings", "os", "weave", "interval-file"})
            inputs.push_back(options[key]);
        for (const Variant& variant : variants_) inputs.push_back(variant.path);
        output_.emplace(paths_.size() * variants_.size(), with_variants(),
                        RowParts{options["interval-out"], options["designs-out"], options["kernel-out"], options["fault-times-out"],
                                 options["dram-rows-out"]},
                        inputs);
        if (options.given("usage-out")) usage_file_.emplace("--usage-out", options["usage-out"], inputs);
        layouts_ = read_layouts(paths_, from_, header_);
        planned_ = passes_of(places_of(variants_, &Variant::platform), places_of(layouts_, &Listed::layout), mappings(),
                             {threads_, asked_group_, engine_->most_layouts(), engine_->has_runtime()});
    }

    int simulate_all() {
        for (size_t place = 0; place < planned_.cells.size(); ++place) {
            if (!listed(place).layout) fail(place, listed(place).refusal);
            else if (!variant(place).platform) fail(place, variant(place).refusal);
        }
        size_t running = 0;
        for (const auto& pass : planned_.passes) running += pass.size();
        progress_.emplace(header_.accesses * running * (1 + warm_passes_));
        const size_t workers = std::min(threads_, std::max<size_t>(planned_.passes.size(), 1));
        read_ahead_ = std::min(threads_ - workers, workers);
        try {
            crew_.run(planned_.passes.size(), workers, [&](size_t worker, size_t pass) { simulate_woven(worker, planned_.passes[pass]); });
        } catch (const Stopped&) {
            output_->flush();
            return report_interruption(signal_received(), output_->emitted(), planned_.cells.size(), with_variants());
        } catch (...) {
            output_->flush();
            throw;
        }
        progress_->finish();
        if (usage_file_) {
            std::fprintf(usage_file_->stream(), "%s\n%s\n", Usage::header().c_str(), usage_.line().c_str());
            usage_file_->close();
        }
        return 0;
    }

private:
    bool with_variants() const { return options_.given("variants"); }
    bool mappings() const { return from_ != PagesFrom::layouts; }  // of pages with frames
    const char* list_option() const { return from_ == PagesFrom::logs ? "os" : mappings() ? "mappings" : "layouts"; }
    const char* list_noun() const { return from_ == PagesFrom::logs ? "log" : mappings() ? "mapping" : "layout"; }
    const Variant& variant(size_t place) const { return variants_[planned_.cells[place].variant]; }
    const Listed& listed(size_t place) const { return layouts_[planned_.cells[place].layout]; }

    void fail(size_t place, const std::string& message) {
        output_->put(place, variant(place).label, failed_row(listed(place).name, one_line(message)), {});
    }

    /// A log whose faults cannot be woven fails alone.
    void simulate_woven(size_t worker, const std::vector<size_t>& places) try { simulate(worker, places); } catch (const Refusal& refusal) {
        if (!templates_) throw;
        for (const size_t place : places) fail(place, refusal.what());
    }

    void simulate(size_t worker, const std::vector<size_t>& places) {
        FileStream file(options_["trace"]);
        ReadAhead ahead(file);
        Stream& program = worker < read_ahead_ ? static_cast<Stream&>(ahead) : file;
        std::optional<weave::WovenStream> woven;  // of the only log of the pass
        if (templates_) woven.emplace(program, *templates_, options_["weave"], listed(places.front()).layout->mapping);
        CellsRequest request{woven ? static_cast<Stream&>(*woven) : program, plan_, {}, warm_passes_};
        for (const size_t place : places) request.cells.push_back({&*variant(place).platform, &*listed(place).layout});
        request.check_tables = check_tables_;
        request.counts_rows = options_.given("dram-rows-out");
        request.progress = [&](uint64_t work) {
            if (signal_received() != 0 || crew_.failed()) throw Stopped();
            progress_->add(work);
        };
        const auto found = make_engine(options_["engine"])->run_cells(request);
        for (size_t i = 0; i < found.size(); ++i) {
            if (found[i].refusal && !mappings() && !with_variants()) throw *found[i].refusal;
            if (found[i].refusal) fail(places[i], found[i].refusal->what());
            else put(places[i], found[i].counts, woven ? &*woven : nullptr);
        }
    }

    void put(size_t place, const LayoutCounts& counts, const weave::WovenStream* woven) {
        const Layout& layout = *listed(place).layout;
        const Platform& platform = *variant(place).platform;
        const bool runtime = engine_->has_runtime();
        output_->put(place, variant(place).label, estimate_row(layout, counts, header_, plan_, runtime, platform.l1i.entries > 0),
                     {format_units(layout, counts, plan_, runtime), format_design(layout, counts, header_),
                      templates_ ? format_kernel(layout, counts, header_, runtime) : "",
                      output_->has_fault_times() ? weave::format_fault_times(layout, counts.kernel.faults, woven->faults()) : "",
                      format_dram_rows(platform, layout, counts, header_, plan_, templates_.has_value())});
    }

    const Usage usage_;  ///< begins here
    const Options& options_;
    const std::unique_ptr<Engine> engine_;
    const std::vector<Variant> variants_;
    const PagesFrom from_;
    const std::vector<std::string> paths_;
    const std::optional<weave::Templates> templates_;
    const size_t threads_, asked_group_;
    FileStream first_;
    const trace::Header header_;
    const SamplePlan plan_;
    const bool check_tables_;
    const uint64_t warm_passes_;
    std::optional<RunOutput> output_;
    std::optional<OutputFile> usage_file_;
    std::vector<Listed> layouts_;
    Passes planned_;
    std::optional<Progress> progress_;
    Crew crew_;
    size_t read_ahead_ = 0;  ///< workers that have a second thread, which decodes their next frame
};

}  // namespace

int run_command(int argc, char** argv) {
    const Options options(run_help(), argc, argv);
    if (options.wants_help()) return 0;
    return Run(options).simulate_all();
}

}  // namespace tessera::sim
