#include "engine/any_design/tlb_group.h"

#include <algorithm>

#include "base/woven.h"
#include "os/mapped_pages.h"

namespace tessera::sim::any_design {

TlbGroup::TlbGroup(const Stream& stream, const Layout& layout, EventLog& log)
    : space_(stream.header().pools, layout),
      log_(log),
      blocks_(stream.blocks()),
      program_blocks_(program_blocks(blocks_)),
      instruction_counts_(woven_instruction_counts(stream.blocks())) {}

void TlbGroup::add(const Platform& platform) {
    if (program_blocks_ < instruction_counts_.size()) {
        if (direct_map_ && *direct_map_ != direct_map(platform))
            throw Refusal("variants with the same os.direct_map_mb", "others of the same run differ", "simulate these variants one by one");
        if (!direct_map_) space_.add_kernel(*(direct_map_ = direct_map(platform)));
    }
    auto member = std::make_unique<Member>();
    member->platform = &platform;
    member->design = designs().make(platform.mmu_design, DesignContext{platform, space_});
    if (member->design->needs_caches()) throw skipped_accesses(platform.mmu_design);
    member->behind = member->design->behind_shared_l1();
    if (member->behind != nullptr) {
        const L1Pages pages = member->behind->l1_pages();
        auto& l1 = l1s_[keys_under(platform, "tlb.l1d.") + (pages == L1Pages::only_4kb ? "only 4KB pages" : "all pages")];
        if (l1 == nullptr) l1 = std::make_unique<SharedL1>(platform, pages);
        l1->needs_chunks |= member->behind->needs_chunks();
        l1->needs_accesses |= member->behind->needs_accesses();
        l1->members.push_back(members_.size());
    }
    members_.push_back(std::move(member));
}

bool TlbGroup::frame(const trace::Frame& frame, const std::vector<Segment>& segments) {
    for (const Segment& segment : segments)
        cut_segment(frame, segment, blocks_, program_blocks_, crossings_, [this](const Chunk& chunk) { run(chunk); });
    return std::any_of(members_.begin(), members_.end(), [](const auto& member) { return !member->refusal; });
}

void TlbGroup::run(const Chunk& chunk) {
    const ChunkEvents& events = log_.next(chunk, false);
    const std::vector<Fetch>& fetches = events.fetches();
    fetch_places_.clear();
    for (size_t e = 0, access = 0; e < chunk.executions && fetch_places_.size() < fetches.size(); access += chunk.access_counts[e++])
        while (fetch_places_.size() < fetches.size() && fetches[fetch_places_.size()].execution == e) fetch_places_.push_back(access);

    source_ = chunk.source;
    if (source_ == Source::kernel) return run_woven({chunk, events, 0, chunk.accesses, 0, 0});
    size_t begin = 0, begin_fetch = 0;
    for (size_t end; (end = epochs_.until_epoch(chunk.accesses)) < chunk.accesses;) {
        const size_t end_fetch = size_t(std::upper_bound(fetch_places_.begin(), fetch_places_.end(), end) - fetch_places_.begin());
        run_part({chunk, events, begin, end, begin_fetch, end_fetch});
        change(end);
        begin = end, begin_fetch = end_fetch;
    }
    run_part({chunk, events, begin, chunk.accesses, begin_fetch, fetches.size()});
    epochs_.skip(chunk.accesses);
}

/// No epoch begins in it, and it has no fetches.
void TlbGroup::run_woven(const Part& part) {
    const Chunk& chunk = part.chunk;
    KernelCounts fresh;
    for (size_t e = 0; e < chunk.executions; ++e) fresh.instructions += instruction_counts_[chunk.block_ids[e]];
    for (size_t i = 0; i < chunk.accesses; ++i) fresh.stores += chunk.is_store[i];
    for (auto& member : members_) {
        KernelCounts& counts = member->counts.kernel;
        counts.instructions += fresh.instructions, counts.stores += fresh.stores, counts.loads += chunk.accesses - fresh.stores;
    }
    run_part(part);
}

void TlbGroup::run_part(const Part& part) {
    rows_of_accesses_.clear();
    for (auto& [keys, l1] : l1s_) {
        const std::optional<Refusal> refusal = look_up(*l1, part);
        for (const size_t i : l1->members) {
            Member& member = *members_[i];
            if (!member.refusal) replay(member, *l1);
            if (!member.refusal) member.refusal = refusal;
        }
    }
    for (auto& member : members_)
        if (member->behind == nullptr && !member->refusal) run_alone(*member, part);
}

/// Fetches and accesses of the part in program order, and the crossing ones again for their second page. `access`: the one at hand.
template <class Fetched, class Accessed, class Crossed>
void TlbGroup::walk(const Part& part, size_t& access, Fetched&& fetched, Accessed&& accessed, Crossed&& crossed) const {
    const std::span crossings(part.chunk.crossing, part.chunk.crossings);
    size_t fetch = part.begin_fetch;
    size_t crossing = size_t(std::lower_bound(crossings.begin(), crossings.end(), part.begin_access) - crossings.begin());
    for (access = part.begin_access; access < part.end_access; ++access) {
        for (; fetch < part.end_fetch && fetch_places_[fetch] <= access; ++fetch) fetched(part.events.fetches()[fetch]);
        accessed(access);
        if (crossing < crossings.size() && crossings[crossing] == access) [[unlikely]]
            crossed(crossing++);
    }
    for (; fetch < part.end_fetch; ++fetch) fetched(part.events.fetches()[fetch]);
}

/// Writes down what L1 lets through. What it returns concerns all who need this L1: a page without a frame, whose size is unknown. An L1
/// of 4KB pages never needs a frame.
std::optional<Refusal> TlbGroup::look_up(SharedL1& l1, const Part& part) {
    l1.misses.clear();
    l1.miss_accesses.clear();
    l1.accesses.clear();
    l1.others.clear();
    const MappedPages* const mapping = space_.mapping();
    const PageChunk* const chunks = this->chunks();
    const bool of_the_space = l1.pages == L1Pages::of_the_space;  // page_size() finds the row of each access
    const bool rows = chunks != nullptr && (of_the_space || l1.needs_chunks);
    const bool writes_rows = rows && of_the_space && l1s_.size() > 1 && rows_of_accesses_.empty();
    size_t access = 0;
    const auto other = [&](OtherEvent::Kind kind, VirtAddr address) { l1.others.push_back({kind, address, l1.misses.size(), access}); };
    const auto fetched = [&](const Fetch& fetch) {
        if (fetch.first_touch) other(OtherEvent::Kind::touch, fetch.page);
        other(OtherEvent::Kind::fetch, fetch.page);
    };
    const auto missed = [&](size_t i, VirtAddr address, PageNumber page) {
        L1Miss& miss = l1.misses.emplace_back(address, page);
        if (rows && mapping->has(address)) {  // else the chunk stays unknown: a design that needs it asks the mapping, which refuses
            miss.chunk = mapping->row(address).chunk, miss.row = mapping->row_number();
            if (miss.chunk != L1Miss::unknown) miss.in_chunk = InChunk(chunks[miss.chunk], address.value >> 12);
        }
        l1.miss_accesses.push_back(uint32_t(access));
        if (l1.needs_accesses) l1.accesses.push_back({address, part.chunk.is_store[i] != 0, part.events.pc(i)});
    };
    const auto accessed = [&](size_t i) {
        const VirtAddr address(part.chunk.addresses[i]);
        if (part.events.first_touch(i)) other(OtherEvent::Kind::touch, address);
        const PageNumber page = page_of(address, of_the_space ? space_.page_size(address) : PageSize::small_4kb);
        if (writes_rows) rows_of_accesses_.push_back(mapping->row_number());
        if (l1.first.lookup(page)) return;
        l1.first.fill(page);
        if (const size_t nth = i - part.begin_access; rows && !of_the_space && nth < rows_of_accesses_.size())
            mapping->expect_row(rows_of_accesses_[nth]);
        missed(i, address, page);
    };
    const auto crossed = [&](size_t crossing) {
        const size_t i = part.chunk.crossing[crossing];
        const VirtAddr first(part.chunk.addresses[i]), address = next_4kb_page(first);
        if (part.events.first_touch_of_second(crossing)) other(OtherEvent::Kind::touch, address);
        if (in_one_page(space_, !of_the_space, first, address)) return;
        const PageNumber page = page_of(address, of_the_space ? space_.page_size(address) : PageSize::small_4kb);
        if (l1.first.lookup(page)) return;
        l1.first.fill(page);
        missed(i, address, page);
    };
    try {
        walk(part, access, fetched, accessed, crossed);
    } catch (const Unmapped& missing) {
        return missing_page(missing, epochs_.accesses() + access);
    }
    return std::nullopt;
}

/// Calls work(), which is at `access` of the chunk. A refusal is the member's own.
template <class Work>
void TlbGroup::guarded(Member& member, const size_t& access, Work&& work) {
    try {
        work();
    } catch (const Unmapped& missing) {
        member.refusal = missing_page(missing, epochs_.accesses() + access);
    } catch (const Refusal& refusal) {
        member.refusal = refusal;
    }
}

/// Of the mapping, if it has rows: under a log, chunks are counted only for designs that ask for them. Else null.
const PageChunk* TlbGroup::chunks() const {
    return space_.mapping() == nullptr || space_.mapping()->rows().empty() ? nullptr : space_.mapping()->chunks().data();
}

void TlbGroup::replay(Member& member, const SharedL1& l1) {
    Counts& counts = member.counts.of(source_);
    size_t access = 0, done = 0;
    const auto misses_before = [&](size_t end) {
        if (done == end) return;
        const L1Misses misses{std::span(l1.misses).subspan(done, end - done), chunks(),
                              l1.needs_accesses ? l1.accesses.data() + done : nullptr};
        MissCounts found;
        try {
            member.behind->missed_l1(misses, found);
        } catch (...) {
            access = l1.miss_accesses[done + found.done];
            throw;
        }
        counts.stlb_hits += found.hits;
        counts.stlb_misses += found.done - found.hits;
        done = end;
    };
    guarded(member, access, [&] {
        for (const OtherEvent& event : l1.others) {
            misses_before(event.misses_before);
            access = event.access;
            if (event.kind == OtherEvent::Kind::touch) {
                member.design->touch(event.address);
                continue;
            }
            counts.count_instruction(member.design->fetch_tlb_only(event.address));
        }
        misses_before(l1.misses.size());
    });
}

void TlbGroup::run_alone(Member& member, const Part& part) {
    Counts& counts = member.counts.of(source_);
    Design& design = *member.design;
    size_t access = 0;
    const auto fetched = [&](const Fetch& fetch) {
        if (fetch.first_touch) design.touch(fetch.page);
        counts.count_instruction(design.fetch_tlb_only(fetch.page));
    };
    const auto accessed = [&](size_t i) {
        const VirtAddr address(part.chunk.addresses[i]);
        if (part.events.first_touch(i)) design.touch(address);
        counts.count(design.access_tlb_only({address, part.chunk.is_store[i] != 0, part.events.pc(i)}));
    };
    const auto crossed = [&](size_t crossing) {
        const size_t i = part.chunk.crossing[crossing];
        const VirtAddr first(part.chunk.addresses[i]), address = next_4kb_page(first);
        if (part.events.first_touch_of_second(crossing)) design.touch(address);
        if (in_one_page(space_, design.only_4kb_pages(), first, address)) return;
        counts.count(design.access_tlb_only({address, part.chunk.is_store[i] != 0, part.events.pc(i)}));
    };
    guarded(member, access, [&] { walk(part, access, fetched, accessed, crossed); });
}

/// An epoch begins before this access of the chunk.
void TlbGroup::change(size_t access) {
    const std::vector<VirtRange> ranges = epochs_.change();
    for (auto& [keys, l1] : l1s_)
        for (const VirtRange range : ranges) l1->first.drop(range);
    for (auto& member : members_) {
        if (member->refusal) continue;
        guarded(*member, access, [&] {
            for (const VirtRange range : ranges)
                member->behind != nullptr ? member->behind->changed_behind_l1(range) : member->design->changed(range);
            for (const AreaChange& area : space_.mapping()->area_changes()) member->design->area_changed(area);
        });
    }
}

void TlbGroup::begin_counts() {
    for (auto& member : members_) {
        member->before = member->counts;
        member->before.design.structures = member->design->structures();
    }
}

std::vector<CellCounts> TlbGroup::finish() {
    std::vector<CellCounts> found;
    for (const auto& member : members_) {
        LayoutCounts counts = member->counts;
        counts.design.structures = member->design->structures();
        counts -= member->before;
        found.push_back({std::move(counts), member->refusal});
    }
    return found;
}

}  // namespace tessera::sim::any_design
