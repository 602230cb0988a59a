// main.cpp - command line of tessera-os.
#include <cinttypes>
#include <filesystem>

#include "driver/refusal.h"
#include "driver/run.h"
#include "driver/show.h"
#include "tessera/common/command_line.h"
#include "tessera/trace/printable.h"

namespace {

using namespace tessera::os;

constexpr const char *usage =
    "usage: tessera-os run --trace FILE --scenario FILE --out LOG   replay a trace under an imitation of Linux 6.12's memory management\n"
    "       tessera-os show LOG [--csv TABLE]                       print what a log has; TABLE: records, faults, kinds, sizes, areas, chunks, counters\n"
    "The scenario is a file of lines `key = value`; `tessera lab os run` makes it from a YAML file (docs/reference/scenarios.md).\n"
    "The log is complete or absent: a run that is stopped begins again. Exit status: 0; 2: wrong request; 1: failed work, out of memory.\n"
    "example: tessera-os show gups-always.oslog --csv sizes\n";

[[noreturn]] void refuse(const std::string &asked, const std::string &found) { throw Refusal(asked, found, "run: tessera-os --help"); }

/// The options behind the first `words_before` words, of which the first one is the command.
tessera::CommandLine options_of(const std::vector<std::string> &words, std::ptrdiff_t words_before, std::vector<tessera::Option> options) {
    tessera::CommandLine found;
    const tessera::Syntax syntax{words[0] + " ", "tessera-os", std::move(options)};
    const tessera::Problem problem = read_command_line(syntax, {words.begin() + words_before, words.end()}, &found);
    if (problem) throw Refusal(problem);
    return found;
}

int run_command(const std::vector<std::string> &words) {
    const tessera::CommandLine options = options_of(words, 1, {{"trace", true, true}, {"scenario", true, true}, {"out", true, true}});
    const std::string out = options.value("out");
    for (const char *input : {"trace", "scenario"})
        if (std::error_code none; std::filesystem::equivalent(options.value(input), out, none))
            throw Refusal("--out " + out, std::string("this is the file of --") + input, "name another file");
    const auto progress = [shown = uint64_t{0}](uint64_t done, uint64_t all) mutable {
        const uint64_t percent = all == 0 ? 100 : done * 100 / all;
        if (percent != shown) std::fprintf(stderr, "progress %" PRIu64 "%% of %" PRIu64 " accesses\n", percent, all);
        shown = percent;
    };
    const RunResult found = run(options.value("trace"), read_scenario(options.value("scenario")), out, progress);
    std::printf("%" PRIu64 " accesses, %" PRIu64 " instructions, %" PRIu64 " calls (%" PRIu64 " ignored)\n", found.accesses,
                found.instructions, found.counts.calls, found.counts.ignored_calls);
    std::printf("%" PRIu64 " faults, %" PRIu64 " of them fell back from 2MB; %" PRIu64 " collapses; %" PRIu64 " records\n",
                found.counts.faults, found.counts.fallbacks, found.counts.collapses, found.records);
    if (found.counts.reclaimed_pages + found.counts.major > 0)
        std::printf("%" PRIu64 " pages of the program reclaimed; %" PRIu64 " major faults; swap: %" PRIu64 " pages out, %" PRIu64 " in\n",
                    found.counts.reclaimed_pages, found.counts.major, found.swap_outs, found.swap_ins);
    if (found.counts.grown_files > 0)
        std::printf("%" PRIu64 " times, a file grew: the program used it beyond the length that it had when it was first mapped\n",
                    found.counts.grown_files);
    std::printf("free frames: %" PRIu64 " before, %" PRIu64 " after\n", found.free_frames_before, found.free_frames_after);
    return 0;
}

int show_command(const std::vector<std::string> &words) {
    if (words.size() < 2) refuse("show", "name a log");
    const tessera::CommandLine options = options_of(words, 2, {{"csv", true, false, show_tables()}});
    Reader log(words[1]);
    if (!options.has("csv")) show(log, stdout);
    else show_table(log, options.value("csv"), stdout);
    if (std::fflush(stdout) != 0 || std::ferror(stdout))
        throw Refusal("standard output", "it cannot be written", "free space, or use a pipe that is open", 1);
    return 0;
}

int command(const std::vector<std::string> &words) {
    for (const std::string &word : words)
        if (word == "--help" || word == "-h") return std::fputs(usage, stdout), 0;
    if (!words.empty() && words[0] == "run") return run_command(words);
    if (!words.empty() && words[0] == "show") return show_command(words);
    refuse(words.empty() ? "command" : "command '" + words[0] + "'", "the commands are run and show");
}

int failed(const tessera::Error &error, int status) {
    std::fprintf(stderr, "tessera-os: %s\n", tessera::trace::printable_lines(error.what()).c_str());
    return status;
}

}  // namespace

int main(int argc, char **argv) try { return command({argv + 1, argv + argc}); } catch (const tessera::trace::TraceError &error) {
    return failed(error, tessera::kExitUsage);
} catch (const tessera::Error &error) {
    return failed(error, error.exit_status());
} catch (const std::bad_alloc &) {
    return tessera::report("tessera-os", tessera::kExitFailed, {"host memory", "none is left", "free memory, or simulate less"});
}
