// codec_benchmark.cpp - bytes per access, writing and reading speed of synthetic kernels (best of several runs).
//
// `tracer_benchmark [M accesses] [folder]`. The floor of reading is a pass that only loads the decoded
// addresses, measured in the same run.
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <random>
#include <string>

#include "tessera/trace/trace.h"

using namespace tessera::trace;

namespace {

constexpr uint64_t base = 0x4000000000;
constexpr uint64_t span = 1u << 30;

/// CPU time, not clock time: neighbours on the machine then change the figures little.
double cpu_seconds() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double seconds(const std::function<void()>& work) {
    const double start = cpu_seconds();
    work();
    return cpu_seconds() - start;
}

StaticBlock block_of(std::initializer_list<int> stores) {
    StaticBlock block{0x400000, {}, {}};
    for (const int store : stores) {
        block.slots.push_back({static_cast<uint16_t>(block.insns.size()), static_cast<uint8_t>(store), 8});
        block.insns.push_back({1, 2, 1, store ? InsnKind::store : InsnKind::load, 1, 4});
    }
    return block;
}

struct Kernel {
    const char* name;
    std::initializer_list<int> stores;
    std::function<void(uint64_t, std::mt19937_64&, uint64_t*)> next;
};

const Kernel kernels[] = {
    {"triad (3 streams)",
     {0, 0, 1},
     [](uint64_t i, std::mt19937_64&, uint64_t* a) {
         for (int s = 0; s < 3; ++s) a[s] = base + s * (span / 4) + 8 * i % (span / 4);
     }},
    {"gups (random read-modify-write)",
     {0, 1},
     [](uint64_t, std::mt19937_64& random, uint64_t* a) { a[0] = a[1] = base + random() % span / 8 * 8; }},
    {"gather (index stream, random load, stack)",
     {0, 0, 1, 0},
     [](uint64_t i, std::mt19937_64& random, uint64_t* a) {
         a[0] = base + 4 * i % (span / 2);
         a[1] = base + span / 2 + random() % (span / 2) / 8 * 8;
         a[2] = a[3] = 0x7ffff000;
     }},
};

}  // namespace

int main(int argc, char** argv) {
    const uint64_t accesses = (argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 20) * 1'000'000;
    const std::filesystem::path folder = argc > 2 ? argv[2] : std::filesystem::temp_directory_path();
    std::printf("%-44s %12s %14s %14s %14s\n", "kernel", "bytes/access", "write M/s", "read M/s", "floor M/s");
    for (const Kernel& kernel : kernels) {
        const std::string path = folder / "tracer_benchmark.tst";
        const size_t slots = kernel.stores.size();
        const std::vector<uint8_t> stores(kernel.stores.begin(), kernel.stores.end());
        std::vector<uint64_t> addresses(accesses / slots * slots);
        std::mt19937_64 random(1);
        for (uint64_t i = 0; i < addresses.size() / slots; ++i) kernel.next(i, random, &addresses[i * slots]);
        const double write = seconds([&] {
            Writer writer = Writer::create(path);
            writer.add_block(block_of(kernel.stores));
            for (size_t i = 0; i < addresses.size(); i += slots)
                writer.append(0, &addresses[i], stores.data(), static_cast<uint16_t>(slots));
            writer.finish({});
        });
        double read = 1e9, floor = 1e9;
        volatile uint64_t sink = 0;
        for (int run = 0; run < 5; ++run) {
            read = std::min(read, seconds([&] {
                                Reader reader = Reader::open(path);
                                Frame frame;
                                while (reader.next(frame)) sink = frame.addresses.back();
                            }));
            floor = std::min(floor, seconds([&] {
                                 uint64_t sum = 0;
                                 for (const uint64_t address : addresses) sum ^= address;
                                 sink = sum;
                             }));
        }
        const double million = static_cast<double>(addresses.size()) / 1e6;
        std::printf("%-44s %12.2f %14.0f %14.0f %14.0f\n", kernel.name,
                    static_cast<double>(std::filesystem::file_size(path)) / static_cast<double>(addresses.size()), million / write,
                    million / read, million / floor);
        std::filesystem::remove(path);
    }
}
