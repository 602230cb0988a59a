// os_benchmark: accesses and faults a second of processor time of `tessera-os run`, with decoding of the trace and writing of the log.
// `os_benchmark [SCALE]`, default 1. Both run a trace that the benchmark writes into the folder of temporary files.
//
// Rows: `hits`: random loads and stores of 64MB, four a block, that were touched before; `faults, in order` and `faults, random`: a store to
// each 4KB page of 4GB, one a block, with huge pages off; `swap`: a store to each page of 2GB, then a load of each, in 1GB of memory; `memory`: 2MB pages of 15GB in a machine of 16GB, and the peak memory of the
// process, which holds the other rows, too.
#include <sys/resource.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdlib>
#include <ctime>
#include <filesystem>

#include "driver/run.h"

namespace {

using namespace tessera;

constexpr uint64_t gb = uint64_t{1} << 30, base = uint64_t{1} << 40;

double processor_seconds() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

uint64_t mixed(uint64_t x) {
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

template <class Fill>
std::string write_trace(const std::string &name, uint64_t bytes, unsigned accesses_of_block, Fill &&fill) {
    const std::string path = (std::filesystem::temp_directory_path() / (name + "-" + std::to_string(getpid()) + ".tst")).string();
    trace::Writer writer = trace::Writer::create(path);
    trace::StaticBlock block{0x400000, {}, {}};
    for (unsigned i = 0; i < accesses_of_block; ++i) {
        block.insns.push_back({0, 0, 0, trace::InsnKind::store, 1, 4});
        block.slots.push_back({static_cast<uint16_t>(i), 1, 8});
    }
    const uint32_t id = writer.add_block(block);
    fill([&](const std::vector<uint64_t> &addresses, const std::vector<uint8_t> &stores) {
        writer.append(id, addresses.data(), stores.data(), static_cast<uint16_t>(addresses.size()));
    });
    trace::Events events;
    events.list.push_back({0, trace::EventKind::map, trace::EventPool::anon, {}, 0, bytes, 0, 0, 3, 0x22, 0, 0});
    writer.set_events(events);
    trace::Header header;
    header.program = name, header.origin = "benchmark";
    header.pools = {{trace::PoolKind::anon, base, bytes, bytes}};
    writer.finish(header);
    return path;
}

os::Scenario scenario(const char *thp, uint64_t memory, uint64_t swap = 0) {
    return os::parse_scenario(
        "name = bench\nmemory_bytes = " + std::to_string(memory) +
            "\npolicy = linux-6.12\nfragmentation.index = none\nfragmentation.order = 9\nfragmentation.target_thousandths = 0\n"
            "fragmentation.tolerance_thousandths = 5\nfragmentation.movable_share_thousandths = 0\nfragmentation.seed = 1\n"
            "thp.enabled = " +
            thp +
            "\nthp.defrag = madvise\nthp.use_zero_page = 1\nthp.khugepaged.defrag = 1\n"
            "thp.khugepaged.max_ptes_none = 511\nthp.khugepaged.max_ptes_swap = 64\nthp.khugepaged.max_ptes_shared = 256\n"
            "thp.khugepaged.pages_to_scan = 4096\nthp.khugepaged.scan_sleep_milliseconds = 10000\n"
            "swap.bytes = " +
            std::to_string(swap) +
            "\nswap.synchronous = 0\nswap.page_cluster = 3\nreclaim.swappiness = 60\ncompaction.proactive = 1\n"
            "page_cache.at_start = none\npage_cache.other_bytes = 0\nhugetlb.pages_2mb = 0\nhugetlb.pages_1gb = 0\nslab.areas = 0\n"
            "disk.model = constant\ntime.frequency_hz = 2000000000\ntime.instructions_per_1000_cycles = 1000\n",
        "benchmark");
}

void row(const char *name, const std::string &trace, const os::Scenario &scenario) {
    const std::string log = trace + ".oslog";
    const double begin = processor_seconds();
    const os::RunResult found = os::run(trace, scenario, log);
    const double seconds = processor_seconds() - begin;
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    std::printf("%-20s %8.2f M accesses/s %8.2f M faults/s  %" PRIu64 " faults, %.1f bytes of log each, peak %ld MB\n", name,
                1e-6 * double(found.accesses) / seconds, 1e-6 * double(found.counts.faults) / seconds, found.counts.faults,
                double(std::filesystem::file_size(log)) / double(std::max<uint64_t>(1, found.counts.faults)), usage.ru_maxrss / 1024);
    std::filesystem::remove(log);
    std::filesystem::remove(trace);
}

}  // namespace

int main(int argc, char **argv) {
    const double scale = argc > 1 ? std::atof(argv[1]) : 1;
    const auto blocks = static_cast<uint64_t>(scale * 5e6), pages = static_cast<uint64_t>(scale * (1 << 20));
    row("hits",
        write_trace("hits", gb, 4,
                    [&](auto &&put) {
                        std::vector<uint64_t> addresses(4);
                        std::vector<uint8_t> stores(4);
                        for (uint64_t i = 0, n = 0; i < blocks; ++i) {
                            for (unsigned k = 0; k < 4; ++k, ++n) addresses[k] = base + (mixed(n) & 0x3ffffff), stores[k] = n >> 1 & 1;
                            put(addresses, stores);
                        }
                    }),
        scenario("never", gb));
    for (const bool random : {false, true})
        row(random ? "faults, random" : "faults, in order",
            write_trace("faults", 4 * gb, 1,
                        [&](auto &&put) {
                            for (uint64_t i = 0; i < pages; ++i) put({base + ((random ? i * 0x9e3779b1 : i) % (1 << 20) << 12)}, {1});
                        }),
            scenario("never", 8 * gb));
    row("swap",
        write_trace("swap", 2 * gb, 1,
                    [&](auto &&put) {
                        for (uint64_t i = 0; i < pages; ++i) put({base + (i % (pages / 2) << 12)}, {i < pages / 2});
                    }),
        scenario("never", std::max<uint64_t>(64, static_cast<uint64_t>(scale * 1024)) << 20, 4 * gb));
    row("memory",
        write_trace("memory", 15 * gb, 1,
                    [&](auto &&put) {
                        for (uint64_t i = 0; i < std::min<uint64_t>(7680, pages); ++i) put({base + (i << 21)}, {1});
                    }),
        scenario("always", 16 * gb));
    row("memory, 4KB pages",
        write_trace("memory-4kb", 15 * gb, 1,
                    [&](auto &&put) {
                        for (uint64_t i = 0; i < std::min<uint64_t>(15 << 18, 4 * pages); ++i) put({base + (i << 12)}, {1});
                    }),
        scenario("never", 16 * gb));
    return 0;
}
