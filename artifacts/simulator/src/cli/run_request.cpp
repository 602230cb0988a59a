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
        "replay a trace under every layout of a list and print one CSV row for each",
        {{"trace", "FILE", std::nullopt, "recorded trace (`tessera trace record`)"},
         {"platform", "FILE", "", "flat platform file: lines `key = value` with the keys of `tessera-sim keys`"},
         {"variants", "FILE", "", "list of platforms instead: lines label<TAB>path; rows begin with a column `variant`"},
         {"layouts", "FILE", "", "list of layout CSV paths, one per line; rows have this order"},
         {"mappings", "FILE", "", "list of mapping CSV paths instead: pages with physical frames (docs/reference/mappings.md)"},
         {"os", "FILE", "", "list of paths of logs instead: what an imitated operating system did (docs/explain/os.md)"},
         {"engine", "NAME", std::nullopt, "partial (H, M, C), timing (H, M, C, R) or reference (H, M, C, R; slow, for checks)"},
         {"sampling", "PLAN", "full", "sampling of C and R: full, tlbs (H and M only), or units=U,warmup_accesses=W,timed_instructions=T"},
         {"intervals", "N", "", "number of evenly spaced units (with --warmup and --timed, instead of --sampling)"},
         {"warmup", "N", "2500000", "accesses that warm the caches before each unit (with --intervals)"},
         {"timed", "N", "1000000", "instructions timed in each unit (with --intervals)"},
         {"interval-file", "FILE", "", "CSV file of units: start_access,warmup_accesses,timed_instructions,weight"},
         {"interval-out", "FILE", "", "write the unscaled counts of each unit of each layout to FILE"},
         {"designs-out", "FILE", "", "write the counts of the design's own structures to FILE: a row for each layout and structure"},
         {"weave", "FILE", "", "with --os: templates of recorded page faults, woven into the program's stream (docs/explain/faults.md)"},
         {"check-tables", "on|off", "off", "with --weave: fail where a walk reads a page-table entry that no woven store has written"},
         {"kernel-out", "FILE", "", "with --weave: write the counts of the kernel's work to FILE: a row for each log"},
         {"fault-times-out", "FILE", "", "with --weave: write the latency of each fault of a timed part to FILE"},
         {"dram-rows-out", "FILE", "",
          "write what loads found in the row buffers of memory to FILE: a row for each layout and kind of load"},
         {"usage-out", "FILE", "", "write the times and the memory that the run itself took to FILE; not reproducible"},
         {"warm-passes", "N", "0", "replay the trace N times before, without counts, so that caches and TLBs do not begin empty"},
         {"threads", "N", "1", "number of threads, for groups of layouts and for decoding"},
         {"group", "N", "auto", "number of layouts in one pass over the trace"}},
        {"tessera-sim run --trace gups.tst --platform haswell.flat --layouts list --engine partial",
         "tessera-sim run --trace gups.tst --platform haswell.flat --layouts list --engine timing --intervals 20 --warmup 2500000 --threads 2",
         "tessera-sim run --trace gups.tst --platform anchor.flat --mappings list --engine partial --designs-out designs.csv",
         "tessera-sim run --trace gups.tst --variants designs.txt --mappings list --engine partial --sampling tlbs"},
        {"H and M are always exact. C and R are scaled from the sampled units, with a 95% half-width. Results do not depend on threads,\n"
         "groups or the order of the list. A layout with an error gives a row with status failed.",
         "Variants of --variants share what they can of a pass over the trace. Rows: conventional variants under layouts first, one\n"
         "after the other; then, layout by layout, the other variants. A variant with an error gives failed rows for itself only."}};
    return help;
}

std::optional<weave::Templates> templates_of(const Options& options, PagesFrom from, const std::vector<Variant>& variants) {
    if (!options.given("weave")) {
        for (const char* out : {"kernel-out", "fault-times-out"})
            if (options.given(out))
                throw Refusal(std::string("--") + out, "without --weave there is no work of the kernel", "give --weave FILE");
        return std::nullopt;
    }
    if (from != PagesFrom::logs) throw Refusal("--weave", "only logs have page faults", "give logs: --os FILE");
    for (const Variant& variant : variants)
        if (variant.platform && variant.platform->allocator.name != "mapped")
            throw Refusal("--weave with memory.allocator = " + variant.platform->allocator.name,
                          "the kernel accesses pages by their frames, which only `mapped` has [weave/allocator]",
                          "set memory.allocator = mapped");
    return weave::read_templates(options["weave"]);
}

void check_timed_outputs(const Options& options, const SamplePlan& plan, bool has_runtime) {
    for (const char* out : {"fault-times-out", "dram-rows-out"})
        if (options.given(out) && (!has_runtime || plan.tlbs()))
            throw Refusal(std::string("--") + out + " with --engine " + options["engine"] + (plan.tlbs() ? " and --sampling tlbs" : ""),
                          "nothing is timed", "use --engine timing or reference, with another plan than tlbs");
}

bool checks_tables(const Options& options, const SamplePlan& plan) {
    const std::string& word = options["check-tables"];
    if (word != "on" && word != "off") throw Refusal("--check-tables " + word, "it is neither on nor off", "write on or off");
    if (word == "off") return false;
    if (!options.given("weave")) throw Refusal("--check-tables on", "without --weave no store is known", "give --weave FILE");
    if (options["engine"] == "reference" || plan.tlbs())
        throw Refusal("--check-tables on", "the engine reference and a plan of TLBs alone do not check tables",
                      "use --engine partial or timing, with --sampling full");
    return true;
}

PagesFrom pages_from(const Options& options) {
    const int given = options.given("layouts") + options.given("mappings") + options.given("os");
    if (given != 1)
        throw Refusal("--layouts, --mappings or --os",
                      given == 0 ? "none is given" : "more than one is given, and each takes the place of the others", "give one of them");
    return options.given("os") ? PagesFrom::logs : options.given("mappings") ? PagesFrom::mappings : PagesFrom::layouts;
}

std::vector<std::string> layout_paths(const std::string& list, const std::string& what) {
    std::vector<std::string> paths;
    std::set<std::string> names;
    const std::string text = read_text(list, "list of " + what + "s");  // outlives the views that split() returns
    for (std::string_view line : split(text, '\n')) {
        const auto path = trim(line);
        if (path.empty()) continue;
        paths.emplace_back(path);
        if (!names.insert(layout_name(paths.back())).second)
            throw Refusal("list of " + what + "s " + list, "two " + what + "s have the name " + layout_name(paths.back()),
                          "rename one file, or list it once");
    }
    if (paths.empty()) throw Refusal("list of " + what + "s " + list, "it is empty", "write one path of a " + what + " CSV per line");
    return paths;
}

SamplePlan plan_of(const Options& options, const trace::Header& header) {
    const bool plain = options.given("intervals") || options.given("warmup") || options.given("timed");
    if (options.given("sampling") + plain + options.given("interval-file") > 1)
        throw Refusal("--sampling, --intervals (--warmup, --timed) and --interval-file", "these options exclude each other",
                      "keep one of them");
    if (options.given("interval-file")) return SamplePlan(read_intervals(options["interval-file"], header.accesses));
    if (!plain) return SamplePlan(parse_sampling(options["sampling"]), header);
    if (!options.given("intervals"))
        throw Refusal("--warmup or --timed", "--intervals is missing", "give the number of units, for example --intervals 20");
    return SamplePlan(Sampling{false, options.whole("intervals", 1), options.whole("warmup", 0), options.whole("timed", 1)}, header);
}

}  // namespace tessera::sim
