// os_example: writes a small trace with all that scenarios model, for tests and for trying scenarios: `os_example FILE`. No program was recorded.
//
// Heap of 1MB; 24MB of anonymous memory, a part of it advised; a private file of 4MB and a shared one of 2MB; 8MB of huge pages (MAP_HUGETLB)
// outside the pools; shared memory; blocks of one access and one of 3,000; calls that take memory back. 60,000 accesses from a fixed formula.
#include <cstdio>

#include "tessera/trace/trace.h"

namespace {

using namespace tessera::trace;

constexpr uint64_t kb = 1 << 10, mb = 1 << 20, gb = uint64_t{1} << 30, page = 4 * kb;
constexpr uint64_t heap = 64 * gb, anon = 128 * gb, file = 256 * gb, outside = 512 * gb;
constexpr uint32_t anonymous = 0x22, of_private = 2, of_shared = 1, shared_anonymous = 0x21, hugetlb = 0x40022;

class Example {
public:
    explicit Example(const char *path) : writer_(Writer::create(path)) {
        load_ = writer_.add_block({0x400000, {{2, 1, 2, InsnKind::load, 1, 4}}, {{0, 0, 8}}});
        store_ = writer_.add_block({0x400100, {{3, 0, 2, InsnKind::store, 1, 4}}, {{0, 1, 8}}});
        events_.files = {{"private", 4 * mb}, {"shared", 2 * mb}};
        events_.file_pool_base = file, events_.file_pool_bytes = gb;
    }
    void call(EventKind kind, EventPool pool, uint64_t offset, uint64_t length, uint32_t protection, uint32_t flags, uint32_t of_file = 0) {
        events_.list.push_back({writer_.block_executions(), kind, pool, {}, offset, length, 0, 0, protection, flags, of_file, 0});
    }
    void access(uint64_t address, bool is_store) {
        const uint8_t kind = is_store;
        writer_.append(is_store ? store_ : load_, &address, &kind, 1);
    }
    void each_page(uint64_t begin, uint64_t bytes, bool is_store) {
        for (uint64_t at = 0; at < bytes; at += page) access(begin + at, is_store);
    }
    void one_block(uint64_t begin, uint16_t pages) {
        std::vector<uint64_t> addresses;
        for (uint16_t i = 0; i < pages; ++i) addresses.push_back(begin + i * page);
        writer_.append(store_, addresses.data(), std::vector<uint8_t>(pages, 1).data(), pages);
    }
    void random(uint64_t begin, uint64_t bytes, int count, bool stores) {
        for (int i = 0; i < count; ++i) {
            state_ = state_ * 6364136223846793005 + 1442695040888963407;
            access(begin + (state_ >> 20) % (bytes / 8) * 8, stores && state_ >> 63);
        }
    }
    void finish() {
        writer_.set_events(events_);
        Header header;
        header.program = "os_example", header.origin = "generated";
        header.pools = {{PoolKind::heap, heap, gb, mb}, {PoolKind::anon, anon, gb, 40 * mb}};
        header.kernel_modelled = true;
        writer_.finish(header);
    }

private:
    Writer writer_;
    Events events_;
    uint32_t load_ = 0, store_ = 0;
    uint64_t state_ = 1;
};

void write(const char *path) {
    using enum EventKind;
    Example e(path);
    e.call(brk, EventPool::heap, 0, mb, 0, 0);
    e.each_page(heap, mb, true);
    e.call(map, EventPool::anon, 0, 24 * mb, 3, anonymous);
    e.call(advise, EventPool::anon, 0, 8 * mb, 0, 14);
    e.each_page(anon, 24 * mb, true);
    e.call(map, EventPool::file, 0, 4 * mb, 3, of_private, 1);
    e.call(map, EventPool::file, 8 * mb, 2 * mb, 3, of_shared, 2);
    e.call(map, EventPool::file, 16 * mb, mb, 3, shared_anonymous);
    e.each_page(file, 4 * mb, false);
    e.random(file, 4 * mb, 500, true);
    e.random(file + 8 * mb, 2 * mb, 1000, true);
    e.random(file + 16 * mb, mb, 500, true);
    e.call(map, EventPool::outside, outside, 8 * mb, 3, hugetlb);
    e.random(outside, 8 * mb, 5000, true);
    e.one_block(anon + 4 * mb, 3000);
    for (int round = 0; round < 4; ++round) {
        e.random(anon, 24 * mb, 6000, true);
        e.random(heap, mb, 1000, true);
        e.random(file, 4 * mb, 1000, false);
        e.random(outside, 8 * mb, 1000, true);
        e.call(advise, EventPool::anon, static_cast<uint64_t>(round) * 4 * mb, mb, 0, 4);
    }
    e.call(unmap, EventPool::outside, outside, 8 * mb, 0, 0);
    e.call(protect, EventPool::anon, 16 * mb, 2 * mb, 1, 0);
    e.random(anon + 16 * mb, 2 * mb, 1000, false);
    e.call(unmap, EventPool::anon, 20 * mb, 4 * mb, 0, 0);
    e.random(anon, 16 * mb, 5000, true);
    e.finish();
}

}  // namespace

int main(int argc, char **argv) try {
    if (argc != 2)
        return std::fputs("usage: os_example FILE   write a small trace for scenarios\nexample: os_example /tmp/example.tst\n", stderr), 2;
    write(argv[1]);
    return 0;
} catch (const TraceError &error) {
    std::fprintf(stderr, "os_example: %s\n", error.what());
    return 1;
}
