#include "cli/run_request.h"

#include <set>

#include "base/error.h"
#include "base/text.h"
#include "engine/interval_file.h"
#include "os/layout.h"

namespace tessera::sim {

const CommandHelp& run_help() {
    static const CommandHelp help{
        "run",
        "replays a trace under every layout of a list and prints one CSV row each",
        {{"trace", "FILE", std::nullopt, "recorded trace (`tessera trace record`)"},
         {"platform", "FILE", std::nullopt, "flat platform file: every key of `tessera-sim keys` as `key = value`"},
         {"layouts", "FILE", std::nullopt, "paths of layout CSVs, one a line; rows come in this order"},
         {"engine", "NAME", std::nullopt, "partial (H, M, C), timing (R too) or reference (the same, slow and obvious)"},
         {"sampling", "PLAN", "full", "samples for C and R: full, or units=U,warmup_accesses=W,timed_instructions=T"},
         {"intervals", "N", "", "the same in plain words: N evenly spaced units"},
         {"warmup", "N", "2500000", "accesses that warm the caches before each unit (with --intervals)"},
         {"timed", "N", "1000000", "instructions counted in each unit (with --intervals)"},
         {"interval-file", "FILE", "", "units at chosen places: start_access,warmup_accesses,timed_instructions,weight"},
         {"interval-out", "FILE", "", "write what each unit of each layout counted, unscaled"},
         {"threads", "N", "1", "threads: groups side by side, and decoding ahead"},
         {"group", "N", "auto", "layouts of one pass over the trace"}},
        {"tessera-sim run --trace gups.tst --platform haswell.flat --layouts list --engine partial",
         "tessera-sim run --trace gups.tst --platform haswell.flat --layouts list --engine timing --intervals 20 --warmup 2500000 --threads 2"},
        {"H and M are exact whatever is sampled; C and R are scaled from the units, with a 95% half-width. Results depend neither on\n"
         "threads nor on groups nor on the order of the list. A layout that is refused is a row with status failed."}};
    return help;
}

std::vector<std::string> layout_paths(const std::string& list) {
    std::vector<std::string> paths;
    std::set<std::string> names;
    const std::string text = read_text(list, "list of layouts");  // outlives the views that split() returns
    for (std::string_view line : split(text, '\n')) {
        const auto path = trim(line);
        if (path.empty()) continue;
        paths.emplace_back(path);
        if (!names.insert(layout_name(paths.back())).second)
            throw Refusal("list of layouts " + list, "two layouts are called " + layout_name(paths.back()), "rename one, or list it once");
    }
    if (paths.empty()) throw Refusal("list of layouts " + list, "empty", "write the path of one layout CSV a line");
    return paths;
}

SamplePlan plan_of(const Options& options, const trace::Header& header) {
    const bool plain = options.given("intervals") || options.given("warmup") || options.given("timed");
    if (options.given("sampling") + plain + options.given("interval-file") > 1)
        throw Refusal("--sampling, --intervals (--warmup, --timed) and --interval-file", "more than one of these three ways to say which parts count",
                      "keep one");
    if (options.given("interval-file")) return SamplePlan(read_intervals(options["interval-file"], header.accesses));
    if (!plain) return SamplePlan(parse_sampling(options["sampling"]), header);
    if (!options.given("intervals")) throw Refusal("--warmup or --timed", "no --intervals", "say how many units there are: --intervals 20");
    return SamplePlan(Sampling{false, options.whole("intervals", 1), options.whole("warmup", 0), options.whole("timed", 1)}, header);
}

}  // namespace tessera::sim
