// block_vectors.cpp - `tessera-sim blocks`: counts how often each static block ran in each interval of the instruction stream.
//
// Input of clustered sampling (basic-block vectors: Sherwood et al., ASPLOS 2002). An interval ends with the block execution that
// completes its instructions, so intervals abut and `start_access` is where a unit of `run --interval-file` has to start.
// Counts are weighted by block length: they are instructions.
#include <cstdio>
#include <vector>

#include "cli/commands.h"
#include "cli/output_file.h"
#include "engine/stream.h"

namespace tessera::sim {
namespace {

struct Interval {
    uint64_t index = 0, start_access = 0, instructions = 0, accesses = 0;
    std::vector<uint64_t> executed;  ///< instructions by block

    void write(std::FILE* out) {
        for (size_t block = 0; block < executed.size(); ++block) {
            if (executed[block] == 0) continue;
            std::fprintf(out, "%llu,%llu,%llu,%llu,%zu,%llu\n", static_cast<unsigned long long>(index),
                         static_cast<unsigned long long>(start_access), static_cast<unsigned long long>(instructions),
                         static_cast<unsigned long long>(accesses), block, static_cast<unsigned long long>(executed[block]));
            executed[block] = 0;
        }
        start_access += accesses;
        ++index;
        instructions = accesses = 0;
    }
};

}  // namespace

int blocks_command(int argc, char** argv) {
    const CommandHelp help{"blocks",
                           "write basic-block vectors of the intervals of a trace",
                           {{"trace", "FILE", std::nullopt, "recorded trace (`tessera trace record`)"},
                            {"instructions", "N", std::nullopt, "length of an interval, in instructions"},
                            {"out", "FILE", std::nullopt, "CSV file to write"}},
                           {"tessera-sim blocks --trace gups.tst --instructions 1000000 --out blocks.csv"},
                           {}};
    const Options options(help, argc, argv);
    if (options.wants_help()) return 0;
    const uint64_t length = options.whole("instructions", 1);
    FileStream stream(options["trace"]);
    OutputFile file("--out", options["out"], {options["trace"]});
    std::FILE* out = file.stream();
    std::fputs("interval,start_access,instructions,accesses,block,executed_instructions\n", out);
    Interval interval;
    interval.executed.resize(stream.blocks().size());
    const std::vector<uint32_t> instruction_counts = trace::instruction_counts(stream.blocks());
    trace::Frame frame;
    while (stream.next(frame))
        for (size_t e = 0; e < frame.block_ids.size(); ++e) {
            const size_t instructions = instruction_counts[frame.block_ids[e]];
            interval.executed[frame.block_ids[e]] += instructions;
            interval.instructions += instructions;
            interval.accesses += frame.access_counts[e];
            if (interval.instructions >= length) interval.write(out);
        }
    if (interval.instructions > 0) interval.write(out);
    file.close();
    return 0;
}

}  // namespace tessera::sim
