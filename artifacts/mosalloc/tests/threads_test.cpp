// Several threads in the same pools, each call under the lock, as in the hooks. Under the thread sanitizer this checks
// that the lock orders all accesses; in every build it checks that no thread gets memory of another thread.
#include <random>
#include <thread>
#include <vector>

#include "core/lock.h"
#include "tests/space_fixture.h"

using namespace mosalloc;

namespace {

class ThreadsTest : public SpaceFixture {
protected:
    Lock lock_;

    template <class F>
    auto locked(F f) {
        const Guard guard(lock_);
        return f();
    }

    void work(uint64_t seed, uint64_t* errors) {
        std::mt19937_64 rng(seed);
        struct Block {
            uint64_t at, pages;
        };
        std::vector<Block> held;
        for (int step = 0; step < 1500; ++step) {
            const uint64_t pages = 1 + rng() % 40;
            if (held.size() < 12 && rng() % 2 == 0) {
                const long at = locked([&] { return space.map(pages * kPage4K, {PROT_READ | PROT_WRITE}); });
                if (sys::failed(at)) continue;
                held.push_back({static_cast<uint64_t>(at), pages});
                for (uint64_t p = 0; p < pages; ++p) {
                    auto* word = reinterpret_cast<uint64_t*>(held.back().at + p * kPage4K);
                    *errors += *word != 0 ? 1 : 0;
                    *word = seed;
                }
            } else if (!held.empty()) {
                const size_t pick = rng() % held.size();
                Block& b = held[pick];
                for (uint64_t p = 0; p < b.pages; ++p) *errors += *reinterpret_cast<uint64_t*>(b.at + p * kPage4K) != seed ? 1 : 0;
                if (rng() % 3 == 0) {
                    const long at =
                        locked([&] { return space.remap(b.at, b.pages * kPage4K, (b.pages + 1) * kPage4K, MREMAP_MAYMOVE, 0); });
                    if (sys::failed(at)) continue;
                    b = {static_cast<uint64_t>(at), b.pages + 1};
                    *reinterpret_cast<uint64_t*>(b.at + (b.pages - 1) * kPage4K) = seed;
                } else {
                    locked([&] { return space.unmap({b.at, b.at + b.pages * kPage4K}); });
                    held.erase(held.begin() + static_cast<long>(pick));
                }
            }
        }
        for (const Block& b : held) locked([&] { return space.unmap({b.at, b.at + b.pages * kPage4K}); });
    }
};

TEST_F(ThreadsTest, NobodyGetsMemoryOfAnother) {
    build(true);
    constexpr uint64_t kThreads = 6;
    uint64_t errors[kThreads] = {};
    std::vector<std::thread> threads;
    for (uint64_t i = 0; i < kThreads; ++i) threads.emplace_back([this, i, &errors] { work(i + 1, &errors[i]); });
    for (std::thread& thread : threads) thread.join();
    for (const uint64_t count : errors) EXPECT_EQ(count, 0u);
    EXPECT_EQ(map.pools[MOSALLOC_POOL_ANON].live_bytes, 0u);
}

}  // namespace
