// profile_fuzz.cpp - `tessera-sim profile` on traces that the reader accepts, with pools that a hostile writer chose: it writes rows for
// 2MB regions of its pools only. profile.cpp is under the sanitizers here; the rest of the simulator is not.
#include <algorithm>
#include <sstream>

#include "base/platform.h"
#include "cli/commands.h"
#include "support/platforms.h"
#include "traces.h"

using namespace tessera;

namespace {

std::string flat_haswell() {
    sim::Platform platform = sim::testing::haswell();
    std::string text;
    for (const sim::PlatformKey& row : sim::platform_keys())
        text += std::string(row.key) + " = " + (row.word ? row.word(platform).name : std::to_string(row.field(platform))) + "\n";
    return text;
}

const char* broken_rule(const std::string& table, const trace::Header& header, uint64_t accesses) {
    std::istringstream lines(table);
    std::string line;
    std::getline(lines, line);
    if (line != "pool,offset_bytes,stlb_misses") return "a profile has a header";
    uint64_t misses = 0;
    while (std::getline(lines, line)) {
        const size_t first = line.find(','), second = line.rfind(',');
        const std::string name = line.substr(0, first);
        const uint64_t offset = std::stoull(line.substr(first + 1, second - first - 1));
        const auto holds = [&](const trace::Pool& pool) {
            return (pool.kind == trace::PoolKind::heap ? "brk" : "mmap") == name && offset < pool.size_bytes && offset % (2 << 20) == 0;
        };
        if (std::none_of(header.pools.begin(), header.pools.end(), holds)) return "rows are 2MB regions of the pools";
        misses += std::stoull(line.substr(second + 1));
    }
    return misses > 2 * accesses ? "no more misses than two for each access, which may cross a page" : nullptr;
}

}  // namespace

int main(int count, char** arguments) {
    const std::string out = trace::testing::temporary_path("profile"), platform = trace::testing::temporary_path("platform");
    trace::testing::write_bytes(platform, flat_haswell());
    const auto use = [&](const std::string& path, const trace::Reader& reader, fuzz::Random&) -> const char* {
        std::string words[] = {"--trace", path, "--platform", platform, "--out", out};
        std::vector<char*> argv;
        for (std::string& word : words) argv.push_back(word.data());
        sim::profile_command(static_cast<int>(argv.size()), argv.data());
        return broken_rule(trace::testing::read_bytes(out), reader.header(), reader.header().accesses);
    };
    const int status = fuzz::run_consumer("profile_fuzz", count, arguments, use, 48);
    std::remove(out.c_str());
    std::remove(platform.c_str());
    return status;
}
