// snapshot_fuzz.cpp - mutated snapshots and event files. Whatever is accepted keeps every invariant, is written as it was
// read, and keeps the invariants through random requests afterwards. Errors name a remedy.
#include <algorithm>

#include "fuzz.h"
#include "support.h"

extern "C" {
#include "cli/replay.h"
}

using namespace tessera;

namespace {

constexpr uint32_t most_frames = 1 << 16;

tests::Memory random_memory(fuzz::Random &rng) {
    phys_config config = phys_config_default();
    config.cpus = 1 + rng() % 3;
    std::vector<frame_range> ranges;
    uint32_t frame = rng() % 3 ? rng() % 600 : 4096 + rng() % 2000;
    for (uint64_t count = 1 + rng() % 3; count > 0; --count) {
        const uint32_t length = 1 + rng() % 6000;
        ranges.push_back({frame, frame + length});
        frame += length + 1 + rng() % 2000;
    }
    return tests::Memory::of(ranges, config);
}

void random_requests(phys &p, fuzz::Random &rng, int steps) {
    std::vector<std::pair<uint32_t, unsigned>> held;
    error failure{};
    for (; steps > 0; --steps) {
        if (rng() % 3 || held.empty()) {
            phys_request request = phys_request_default(rng() % 3 ? rng() % 2 : rng() % PHYS_ORDERS, static_cast<phys_type>(rng() % 3));
            request.cpu = static_cast<uint8_t>(rng() % p.cpus);
            request.may_reclaim = rng() % 2, request.may_use_reserve = rng() % 2;
            const phys_result result = phys_alloc(&p, &request);
            if (result.outcome == PHYS_GOT_FRAMES) held.emplace_back(result.frame, request.order);
            if (result.outcome == PHYS_GOT_FRAMES && rng() % 2) phys_set_lru(&p, result.frame, true, &failure);
        } else if (rng() % 50 == 0) {
            percpu_refresh(&p, static_cast<uint32_t>(rng() % p.cpus));
        } else {
            std::swap(held[rng() % held.size()], held.back());
            phys_free(&p, held.back().first, held.back().second, static_cast<uint32_t>(rng() % p.cpus), &failure);
            held.pop_back();
        }
    }
}

std::string random_text(fuzz::Random &rng) {
    tests::Memory memory = random_memory(rng);
    random_requests(memory.p, rng, rng() % 400);
    std::string text = memory.snapshot();
    if (rng() % 3)
        fuzz::mutate(text, rng,
                     {" ", "\n", "-", "0", "1", "4294967295", "9223372036854775807", " 512", "\nlru 0 1", "\nused 0 8192 1", "HighAtomic",
                      "Movable", "DMA32", "\nend\n", "\npageblocks HighAtomic 0 1", std::string_view("\0", 1)});
    return text;
}

const char *broken_rule(tests::Memory &memory, fuzz::Random &rng) {
    if (const char *broken = phys_check(&memory.p)) return broken;
    // Comments, runs and lines of a list can be written in more than one way; the second writing is the canonical one.
    const std::string written = memory.snapshot();
    tests::Memory again;
    error failure{};
    if (!snapshot_read(&again.p, written.data(), written.size(), "again", most_frames, &failure)) return "what is written is accepted";
    if (again.snapshot() != written) return "what is written is read as the same";
    random_requests(memory.p, rng, 200);
    return phys_check(&memory.p);
}

std::string random_events(fuzz::Random &rng) {
    std::string text;
    for (uint64_t lines = rng() % 30; lines > 0; --lines) {
        const std::string id = std::to_string(rng() % 6);
        switch (rng() % 6) {
            case 0: text += "free " + id + "\n"; break;
            case 1: text += "lru " + id + " on\n"; break;
            case 2: text += "free-frame " + std::to_string(rng() % 9000) + " " + std::to_string(rng() % 4) + "\n"; break;
            case 3: text += rng() % 2 ? "drain\nrefresh\n" : "kswapd\n"; break;
            default: text += "alloc " + id + " " + std::to_string(rng() % 11) + " Movable no-wake\n";
        }
    }
    if (rng() % 2) fuzz::mutate(text, rng, {" ", "\n", "cpu=0", "cpu=1", "zone=DMA", "free 0", "alloc 67108863 0 Movable", "11", "#"});
    return text;
}

void fuzz_events(fuzz::Run &run) {
    tests::Memory memory = random_memory(run.rng);
    const std::string text = random_events(run.rng);
    replay_counts counts;
    error failure{};
    char *printed = nullptr;
    size_t bytes = 0;
    FILE *out = open_memstream(&printed, &bytes);
    const bool done = replay_run(&memory.p, text.data(), text.size(), "fuzz", run.rng() % 2, out, &counts, &failure);
    std::fclose(out);
    std::free(printed);
    if (const char *broken = phys_check(&memory.p)) run.broken(text, broken);
    if (!done && failure.remedy[0] == '\0') run.broken(text, "an error has a remedy");
}

}  // namespace

int main(int count, char **arguments) {
    fuzz::Run run("snapshot_fuzz", count, arguments);
    while (run.more()) {
        const std::string text = random_text(run.rng);
        tests::Memory memory;
        error failure{};
        if (snapshot_read(&memory.p, text.data(), text.size(), "fuzz", most_frames, &failure))
            run.accepted(text, broken_rule(memory, run.rng));
        else run.refused(text, std::string(failure.found) + "\n  what to do: " + failure.remedy);
        fuzz_events(run);
    }
    return run.finish();
}
