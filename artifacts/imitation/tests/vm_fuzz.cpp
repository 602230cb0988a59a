// vm_fuzz.cpp - random and mutated event files of tessera-vm. Whatever runs keeps every invariant; errors name a line and a
// remedy; after the exit no frame is in use.
#include "fuzz.h"
#include "vm_support.h"

extern "C" {
#include "cli/vm_replay.h"
}

using namespace tessera;

namespace {

std::string address(fuzz::Random &rng) {
    const uint64_t base = rng() % 4 ? 0x40000000 : rng() % 2 ? 0x7fffffe00000 : 0x3fffe00000;
    const uint64_t page = rng() % 3 ? rng() % 2048 : rng() % 4 * 512;
    char text[24];
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(base + (page << 12)));
    return text;
}

std::string length(fuzz::Random &rng) { return std::to_string((1 + (rng() % 2 ? rng() % 20 : rng() % 1500)) << 12); }

std::string random_events(fuzz::Random &rng) {
    static const char *const rights[] = {"rw", "rw", "r", "none", "rwx"}, *const advice[] = {"hugepage", "nohugepage", "dontneed"};
    std::string text;
    for (uint64_t lines = rng() % 60; lines > 0; --lines) {
        const std::string range = address(rng) + " " + length(rng);
        switch (rng() % 12) {
            case 0: text += "munmap " + range + "\n"; break;
            case 1:
                text += "mmap " + range + " r file=" + std::to_string(1 + rng() % 2) + " offset=" + std::to_string(rng() % 9 << 12) + "\n";
                break;
            case 2: text += "mmap " + (rng() % 2 ? range : "any " + length(rng)) + " rw\n"; break;
            case 3: text += "mprotect " + range + " " + rights[rng() % 5] + "\n"; break;
            case 4: text += "mremap " + range + " " + length(rng) + (rng() % 4 ? " " + address(rng) : "") + "\n"; break;
            case 5: text += "madvise " + range + " " + advice[rng() % 3] + "\n"; break;
            case 6: text += rng() % 4 ? "scan\n" : "kswapd\n"; break;
            case 7: text += rng() % 3 ? "brk " + address(rng) + "\n" : "heap " + address(rng) + "\n"; break;
            default: text += "touch " + address(rng) + (rng() % 3 ? " w " : " r ") + length(rng) + "\n";
        }
        if (rng() % 3 == 0) text += "mmap 0x40000000 0x800000 rw\n";
    }
    if (rng() % 4 == 0)
        fuzz::mutate(text, rng, {" ", "\n", "0x", "-1", "any", "shared", "0", "18446744073709551615", "touch", "0x7ffffffff000"});
    return text;
}

/// A family of processes with files and huge pages of a pool: every event is possible, unless memory is full.
std::string random_family(fuzz::Random &rng) {
    static const char *const start[] = {"0x40000000", "0x50000000", "0x51000000", "0x60000000"};
    static const uint64_t pages[] = {2048, 300, 300, 1024};
    std::string text =
        "file 1 " + std::to_string(rng() % 1228801) + (rng() % 3 ? "\n" : " large\n") + "hugetlb 2MB 2\nmmap 0x40000000 0x800000 rw\n" +
        "mmap 0x50000000 1228800 rw file=1\nmmap 0x51000000 1228800 rw shared file=1\nmmap 0x60000000 0x400000 rw noreserve hugetlb=2MB\n";
    std::vector<int> alive = {0};
    int current = 0, next = 1;
    for (uint64_t lines = rng() % 120; lines > 0; --lines) {
        const uint64_t area = rng() % 4, page = rng() % pages[area];
        char place[24];
        std::snprintf(place, sizeof place, "0x%llx",
                      std::strtoull(start[area], nullptr, 16) + (static_cast<unsigned long long>(page) << 12));
        const std::string range = std::string(place) + " " + std::to_string((1 + rng() % std::min<uint64_t>(64, pages[area] - page)) << 12);
        switch (rng() % 20) {
            case 0:
                if (alive.size() > 4) break;
                alive.push_back(next);
                text += "fork " + std::to_string(next++) + "\n";
                break;
            case 1:
                current = alive[rng() % alive.size()];
                text += "process " + std::to_string(current) + "\n";
                break;
            case 2:
                if (current == 0) break;
                std::erase(alive, current);
                current = 0;
                text += "exit\n";
                break;
            case 3: text += area < 3 ? "madvise " + range + " dontneed\n" : ""; break;
            case 4:
                text += area == 0 ? "mmap " + range + " rw\n" : area < 3 ? "mprotect " + range + (rng() % 2 ? " r\n" : " rw\n") : "";
                break;
            case 5: text += "read 1 " + std::to_string(rng() % 1228800) + " " + std::to_string(rng() % 200000) + "\n"; break;
            case 6: text += "drop-caches\n"; break;
            case 7: text += rng() % 2 ? "scan\n" : "hugetlb 2MB " + std::to_string(rng() % 4) + "\n"; break;
            case 8:
                text += area == 0 && rng() % 4 == 0
                            ? "mremap 0x40000000 0x100000 0x100000 0x70000000\nmunmap 0x70000000 0x100000\nmmap 0x40000000 0x100000 rw\n"
                            : "";
                break;
            default: text += "touch " + std::string(place) + (rng() % 2 ? " w" : " r") + range.substr(range.find(' ')) + "\n";
        }
    }
    return text;
}

/// Every line on its own, so that the events after an impossible one run, too.
std::vector<std::string> pieces(const std::string &text, bool whole) {
    std::vector<std::string> lines;
    for (size_t start = 0; start < text.size();) {
        const size_t end = whole ? text.size() : std::min(text.find('\n', start), text.size() - 1) + 1;
        lines.push_back(text.substr(start, end - start));
        start = end;
    }
    return lines;
}

void replay(fuzz::Run &run) {
    thp settings = tests::settings_of(static_cast<thp_enabled>(run.rng() % 3), static_cast<thp_defrag>(run.rng() % 5));
    settings.use_zero_page = run.rng() % 2;
    settings.max_ptes_none = run.rng() % 2 ? 511 : 100;
    tests::Process p(settings, (run.rng() % 4 ? 64 : 17) * tests::mib);
    const bool family = run.rng() % 3 == 0;
    const std::string text = family ? random_family(run.rng) : random_events(run.rng);
    vm_replay_counts counts;
    error failure{};
    FILE *out = std::fopen("/dev/null", "w");
    bool refused = false;
    for (const std::string &piece : pieces(text, family || run.rng() % 4 == 0))
        if (!vm_replay_run(&p.process, piece.data(), piece.size(), "fuzz", run.rng() % 8 == 0, run.rng() % 8 == 0, out, &counts,
                           &failure)) {
            refused = true;
            if (failure.remedy[0] == '\0') run.broken(text, "an error has a remedy");
        }
    std::fclose(out);
    const char *broken = p.broken();
    p.end();
    vm_shrink_huge_zero(&p.system, 0);
    file_cache_destroy(&p.system.files, 0);
    hugetlb_destroy(&p.system.hugetlb, 0);
    percpu_drain_all(&p.memory.p, 0);
    if (!broken) broken = p.broken();
    for (uint32_t frame = 0; !broken && frame < p.memory.p.frames.count; ++frame)
        if (frame_kind(&p.memory.p.frames, frame) == FRAME_USED) broken = "after the exit no frame is in use";
    if (refused && !broken) run.refused(text, std::string(failure.found) + "\n  what to do: " + failure.remedy);
    else run.accepted(text, broken);
}

}  // namespace

int main(int count, char **arguments) {
    fuzz::Run run("vm_fuzz", count, arguments);
    while (run.more()) replay(run);
    return run.finish();
}
