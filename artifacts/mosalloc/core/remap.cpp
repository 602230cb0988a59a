// remap.cpp - mremap over pool memory.
//
// Order of attempts: shrink; grow into the free space behind; move to the lowest range that fits. For a move inside
// 4KB parts, the kernel moves page tables (MREMAP_DONTUNMAP, Linux 5.7: the old range never becomes a hole where the
// kernel could place another thread's mapping). All other moves copy the memory.
#include "core/copy.h"
#include "core/later.h"
#include "core/space.h"

namespace mosalloc {
namespace {

constexpr int kReadWrite = PROT_READ | PROT_WRITE;

/// One call of mremap for memory of a pool that is all handed out: `old` shall have `bytes`.
class Move {
public:
    Move(Space& space, Pool& pool, Range old, uint64_t bytes, bool keep, bool foreign)
        : space_(space), pool_(pool), old_(old), bytes_(bytes), keep_(keep), foreign_(foreign) {}

    /// Without MREMAP_FIXED or MREMAP_DONTUNMAP.
    long resize(bool may_move);
    /// To a place that the caller chose.
    long to(uint64_t address);
    /// Neither in place nor at a place that the caller chose: the lowest range that fits.
    long anywhere();

private:
    uint64_t address() const { return pool_.base() + old_.start; }
    long grow_in_place();
    long grow_by_kernel();
    long foreign_to(uint64_t address);
    long by_kernel(uint64_t to);
    long contents_to(uint64_t to);
    long protect_like(Range addresses, Range from);
    void leave();

    Space& space_;
    Pool& pool_;
    const Range old_;
    const uint64_t bytes_;
    const bool keep_;     ///< MREMAP_DONTUNMAP
    const bool foreign_;  ///< a file or shared mapping: it cannot be copied, only moved by the kernel
};

long Move::grow_in_place() {
    const Range extra{old_.end, old_.start + bytes_};
    if (extra.end > pool_.bytes() || !space_.is_free(&pool_, extra)) return -ENOMEM;
    const long result = pool_.commit(extra, pool_.pages().protection_at(old_.end - kPage4K));
    if (sys::failed(result)) return result;
    space_.take(&pool_, extra);
    return 0;
}

/// The kernel can make a mapping longer where nothing is behind it, so the span makes room.
long Move::grow_by_kernel() {
    const Range extra{old_.end, old_.start + bytes_};
    if (extra.end > pool_.bytes() || !space_.is_free(&pool_, extra)) return -ENOMEM;
    if (pool_.touches_window({old_.start, extra.end})) return -ENOMEM;
    if (sys::failed(sys::munmap(pool_.base() + old_.end, extra.bytes()))) return -ENOMEM;
    const long result = sys::mremap(address(), old_.bytes(), bytes_, 0, 0);
    if (sys::failed(result)) {
        space_.restore(&pool_, extra, MAP_FIXED_NOREPLACE);
        return result;
    }
    pool_.adopt_foreign(extra, PROT_NONE);
    pool_.record(extra, pool_, {old_.end - kPage4K, old_.end});
    space_.take(&pool_, extra);
    return 0;
}

/// Contents and protections of `old` go to address `to`, where `bytes` of zeroed memory are committed; what is longer
/// than `old` is as its last page. The old range stays as it is, with any contents.
long Move::contents_to(uint64_t to) {
    const uint64_t moved = old_.bytes() < bytes_ ? old_.bytes() : bytes_;
    const Range from{old_.start, old_.start + moved};
    Pool* target = space_.holder({to, to + bytes_});
    const Range place = target == nullptr ? Range{} : target->offsets({to, to + bytes_});
    // Memory that leaves the pools is copied. The kernel may have several mappings where the program sees one, and outside
    // the pools the library could not hide this from the program's next mremap.
    if (target != nullptr && !pool_.touches_window(from) && !target->touches_window(place)) {
        // Longer memory in one call, so that it is one mapping, which the kernel moves as a whole later.
        const bool grows = bytes_ > moved;
        const int flags = MREMAP_MAYMOVE | MREMAP_FIXED | (grows ? 0 : MREMAP_DONTUNMAP);
        const long result = sys::mremap(address(), moved, grows ? bytes_ : moved, flags, to);
        if (!sys::failed(result)) {
            if (grows) reserve_span(address(), moved);
            target->record(place, pool_, from);
            return 0;
        }  // EFAULT: several mappings (mixed protections); EINVAL: an older kernel. Copying does the same.
        // Before Linux 6.17 the kernel has already unmapped the target then.
        const long again = map_small(to, bytes_, kReadWrite, 0);
        if (sys::failed(again)) return again;
    }
    long result = pool_.open_for_copy(from, kReadWrite);
    if (!sys::failed(result)) {
        copy_pages(address(), to, moved);
        result = protect_like({to, to + bytes_}, from);
    }
    if (sys::failed(result)) pool_.close_after_copy(from);
    return result;
}

/// Gives `addresses`, which can be read and written, the protections that are recorded for `from`; what is longer is as
/// its last page.
long Move::protect_like(Range addresses, Range from) {
    const auto like = [&](uint64_t at) {
        const uint64_t offset = from.start + (at - addresses.start);
        return pool_.pages().protection_at(offset < from.end ? offset : from.end - kPage4K);
    };
    Range run = addresses;
    for (; !run.empty(); run = {run.end, addresses.end}) {
        const int prot = like(run.start);
        run.end = run.start;
        while (run.end < addresses.end && like(run.end) == prot) run.end += kPage4K;
        const long result = prot == kReadWrite ? 0 : space_.protect(run, prot);
        if (sys::failed(result)) return result;
    }
    return 0;
}

/// After a move: the old range is free, or (MREMAP_DONTUNMAP) still the program's and reads zero. The contents are at the
/// new place, so the move succeeds if the kernel refuses this: the old range then stays in use, and nobody else gets it.
void Move::leave() {
    if (keep_) pool_.renew(old_);
    else space_.give(&pool_, old_);
}

long Move::by_kernel(uint64_t to) {
    return sys::mremap(address(), old_.bytes(), bytes_, MREMAP_MAYMOVE | MREMAP_FIXED | (keep_ ? MREMAP_DONTUNMAP : 0), to);
}

long Move::foreign_to(uint64_t to) {
    const Range addresses{to, to + bytes_};
    Pool* target = space_.holder(addresses);
    if (target == nullptr ? space_.overlaps(addresses) : !space_.may_place(target, target->offsets(addresses)))
        return space_.refused(-EINVAL);
    const auto move = [&] { return by_kernel(to); };
    const long result = target == nullptr ? move() : space_.put_foreign(addresses, pool_.pages().protection_at(old_.start), move);
    if (!sys::failed(result) && !keep_) space_.give(&pool_, old_);
    return result;
}

long Move::to(uint64_t address) {
    const Range addresses{address, address + bytes_};
    if (address % kPage4K != 0 || addresses.overlaps(pool_.addresses(old_))) return -EINVAL;
    if (foreign_) return foreign_to(address);
    Later none;  // this request has nothing that can block
    long result = space_.overlaps(addresses) ? space_.map_fixed(addresses, {kReadWrite}, &none)
                                             : sys::mmap(address, bytes_, kReadWrite, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED);
    if (!sys::failed(result)) result = contents_to(address);
    if (sys::failed(result)) return result;
    leave();
    return static_cast<long>(address);
}

long Move::anywhere() {
    if (foreign_) {
        const long result =
            space_.place_foreign(bytes_, pool_.pages().protection_at(old_.start), [&](uint64_t to) { return by_kernel(to); });
        if (!sys::failed(result) && !old_.empty() && !keep_) space_.give(&pool_, old_);
        return result;
    }
    const long moved = space_.place(bytes_, kReadWrite, false);
    if (sys::failed(moved)) return moved;
    const uint64_t at = static_cast<uint64_t>(moved);
    const long result = contents_to(at);
    if (!sys::failed(result)) {
        leave();
        return moved;
    }
    Pool& anon = space_.pool(MOSALLOC_POOL_ANON);
    space_.give(&anon, anon.offsets({at, at + bytes_}));
    return result;
}

long Move::resize(bool may_move) {
    if (bytes_ <= old_.bytes()) {
        const Range tail{old_.start + bytes_, old_.end};
        const long result = tail.empty() ? 0 : space_.give(&pool_, tail);
        return sys::failed(result) ? result : static_cast<long>(address());
    }
    long grown = -ENOMEM;
    if (foreign_ || pool_.pages().any(old_, kMarks)) grown = grow_by_kernel();  // the new part has the same marks
    if (!foreign_ && sys::failed(grown)) grown = grow_in_place();
    if (!sys::failed(grown)) return static_cast<long>(address());
    return may_move ? anywhere() : -ENOMEM;
}

}  // namespace

long Space::remap(uint64_t old, uint64_t old_bytes, uint64_t bytes, int flags, uint64_t to) {
    const bool fixed = (flags & MREMAP_FIXED) != 0, may_move = (flags & MREMAP_MAYMOVE) != 0;
    const bool keep = (flags & MREMAP_DONTUNMAP) != 0;
    old_bytes = align_up(old_bytes, kPage4K);
    bytes = align_up(bytes, kPage4K);
    const Range addresses{old, old + old_bytes};
    const bool unknown = (flags & ~(MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP)) != 0;
    if (old % kPage4K != 0 || bytes == 0 || unknown || (fixed && !may_move)) return -EINVAL;
    if (keep && (!may_move || old_bytes != bytes)) return -EINVAL;
    if (addresses.end < old || old + bytes < old) return -EINVAL;
    const Range first{old, old + (old_bytes == 0 ? kPage4K : old_bytes)};
    if (fixed && !overlaps(first)) {  // a mapping of the kernel's comes into a pool: it stays the program's own there
        const Range place{to, to + bytes};
        if (to % kPage4K != 0) return refused(-EINVAL);
        return put_foreign(place, kReadWrite, [&] { return sys::mremap(old, old_bytes, bytes, flags, to); });
    }
    Pool* pool = holder(first);
    if (pool == nullptr || !pool->pages().all_used(pool->offsets(first))) return -EFAULT;
    if (!has_room(pool)) return -ENOMEM;
    const bool foreign = pool->pages().any(pool->offsets(first), kForeign);
    Move move(*this, *pool, pool->offsets(addresses), bytes, keep, foreign);
    long result;
    if (old_bytes == 0) result = foreign && may_move && !fixed ? move.anywhere() : -EINVAL;
    else if (fixed) result = move.to(to);
    else if (keep) result = move.anywhere();
    else result = move.resize(may_move);
    served(pool);
    return result;
}

}  // namespace mosalloc
