// mapping_fuzz.cpp - mapping files over pools of odd sizes and places: the pages of accepted ones are aligned and in a pool of the
// trace, and no two share a frame at any time.
#include <algorithm>

#include "base/error.h"
#include "fuzz.h"
#include "os/mapped_pages.h"

using namespace tessera;
using namespace tessera::sim;

namespace {

constexpr const char* head = "epoch,pool,page,frame,pages,page_size\n";

std::vector<trace::Pool> random_pools(fuzz::Random& rng) {
    std::vector<trace::Pool> pools;
    for (const auto kind : {trace::PoolKind::heap, trace::PoolKind::anon}) {
        if (rng() % 16 == 0) continue;
        const uint64_t odd = rng() % 8 ? 0 : rng() % 2 ? 2 * mib : 4096;
        pools.push_back({kind, (1 + static_cast<uint64_t>(kind) * 64 + rng() % 4) * gib + odd, (1 + rng() % 4000) * mib + rng() % 2, 0});
    }
    return pools;
}

std::string random_file(fuzz::Random& rng) {
    std::string text = rng() % 16 ? head : "";
    uint64_t epoch = 0;
    for (uint64_t epochs = 1 + rng() % 3; epochs > 0; --epochs, epoch += 1 + rng() % 9)
        for (const char* pool : {"brk,", "mmap,"})
            for (uint64_t rows = rng() % 4, page = rng() % 3; rows > 0; --rows) {
                const bool large = rng() % 3 == 0;
                const uint64_t step = large ? 512 : 1, pages = step * (1 + rng() % (large ? 3 : 700));
                page = (page + step - 1) / step * step;
                const bool gone = epoch > 0 && !large && rng() % 3 == 0;
                text += std::to_string(epoch) + "," + pool + std::to_string(page) + ",";
                if (!gone) text += std::to_string(rng() % 30 * 512 + (large ? 0 : rng() % 3));
                text += "," + std::to_string(pages) + (large ? ",2MB\n" : ",4KB\n");
                page += pages + (rng() % 2 ? rng() % 100 : 0);
            }
    if (rng() % 2)
        fuzz::mutate(text, rng,
                     {",",
                      ",,",
                      "\n",
                      "\r\n",
                      "brk",
                      "mmap",
                      "0",
                      "512",
                      "262144",
                      "2MB",
                      "4KB",
                      "1GB",
                      "-1",
                      "68719476736",
                      "1099511627776",
                      "9223372036854775808",
                      std::string_view("\0", 1),
                      "\xEF\xBB\xBF",
                      "0,brk,0,0,1,4KB\n",
                      head});
    return text;
}

const char* broken_state(const MappedPages& pages, const std::vector<trace::Pool>& pools) {
    std::vector<std::pair<uint64_t, uint64_t>> frames;
    uint64_t end = 0, in_rows = 0, in_chunks = 0;
    for (const MappedRow& row : pages.rows()) {
        const uint64_t step = bytes_of(row.size).value >> 12;
        if (row.page % step || row.frame % step || row.pages % step || row.pages == 0) return "rows are whole pages";
        if (row.page < end) return "rows are sorted and disjoint";
        end = row.page + row.pages, in_rows += row.pages;
        const bool inside = std::any_of(pools.begin(), pools.end(), [&](const trace::Pool& p) {
            return row.page << 12 >= p.base && ((end - 1) << 12) < p.base + p.size_bytes;
        });
        if (!inside) return "rows lie in a pool of the trace";
        if (row.frame + row.pages > uint64_t{1} << 36) return "frames are below 2^36";
        frames.push_back({row.frame, row.frame + row.pages});
        for (const uint64_t page : {row.page, end - 1}) {
            if (pages.physical(VirtAddr(page << 12)).value != (row.frame + page - row.page) << 12) return "a look-up finds the row";
            const PageChunk chunk = pages.chunk(VirtAddr(page << 12));
            if (page - chunk.page >= chunk.pages || chunk.frame - chunk.page != row.frame - row.page)
                return "a row has the offset of its chunk";
        }
    }
    for (const PageChunk& chunk : pages.chunks()) in_chunks += chunk.pages;
    if (in_rows != in_chunks) return "chunks have the pages of the rows";
    std::sort(frames.begin(), frames.end());
    for (size_t i = 1; i < frames.size(); ++i)
        if (frames[i].first < frames[i - 1].second) return "two pages have different frames";
    return nullptr;
}

const char* broken_rule(Mapping mapping, const std::vector<trace::Pool>& pools) {
    for (size_t i = 0; i < mapping.epochs.size(); ++i)
        if (i == 0 ? mapping.epochs[0].access != 0 : mapping.epochs[i].access <= mapping.epochs[i - 1].access)
            return "epochs ascend from 0";
    MappedPages pages(std::make_shared<const Mapping>(std::move(mapping)), pools);
    const char* broken = broken_state(pages, pools);
    while (!broken && pages.next_change() != ~uint64_t{0}) {
        if (pages.change().empty()) return "an epoch changes a range";
        broken = broken_state(pages, pools);
    }
    return broken;
}

}  // namespace

int main(int count, char** arguments) {
    std::vector<trace::Pool> pools;
    const auto make = [&](fuzz::Random& rng) {
        pools = random_pools(rng);
        return random_file(rng);
    };
    return fuzz::run_reader<Refusal>("mapping_fuzz", count, arguments, make, [&](const std::string& text, fuzz::Random&) {
        return broken_rule(parse_mapping(text, "fuzz.csv", pools), pools);
    });
}
