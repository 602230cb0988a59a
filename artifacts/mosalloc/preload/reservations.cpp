#include "preload/reservations.h"

#include "core/sys.h"
#include "core/table.h"
#include "core/text.h"

namespace mosalloc {
namespace {
constexpr uint64_t kMostRecorded = 64 * kPage1G;  // the recorder allows no larger pool
constexpr size_t kCapacity = 1 << 16;  // as many mappings as the kernel allows; then pages opened several times count several times
}  // namespace

bool Reservations::init(mosalloc_pool_map* map, bool allowed) {
    map_ = map;
    allowed_ = allowed;
    if (!allowed) return true;  // and no table: the addresses of what a recorded program maps later stay the same
    auto* table = static_cast<Range*>(make_table(2 * kCapacity * sizeof(Range)));
    if (table == nullptr) return false;
    held_.init(table, kCapacity);
    closed_.init(table + kCapacity, kCapacity);
    return true;
}

bool Reservations::may_leave(uint64_t bytes, uint64_t used_bytes) {
    if (allowed_ && held_.has_room() && closed_.has_room()) return true;
    if (allowed_ || refused_) return false;
    refused_ = true;
    char line[640];
    Text text(line);
    text.add("mosalloc: mmap of ")
        .number((bytes + (1 << 20) - 1) >> 20)
        .add(
            "MB without access (PROT_NONE): the anonymous pool has no room for this reservation, and "
            "nothing may lie outside it, as in a recording (ENOMEM)\n  what to do: ");
    const uint64_t enough = align_up(used_bytes + bytes + 32 * kPage2M, kPage1G);  // and what comes later
    if (enough <= kMostRecorded) text.add("record with --anon-pool ").size(enough);
    else
        text.add("let the program reserve less than ")
            .size(kMostRecorded)
            .add(
                " (.NET: DOTNET_GCHeapHardLimit=0x40000000), and record with "
                "--anon-pool ")
            .size(kMostRecorded);
    text.add("; if this is no recording, set MOSALLOC_RESERVATIONS=kernel\n");
    sys::write(2, line, text.length());
    return false;
}

void Reservations::made(Range addresses) {
    ++map_->reservation_calls;
    hold(addresses);
    if (closed_.has_room()) closed_.give(addresses);
    else map_->opened_bytes += addresses.bytes();  // other threads took the room: what is used cannot be told
}

void Reservations::hold(Range addresses) {
    if (!held_.has_room()) return;
    const uint64_t now = held_bytes_ + addresses.bytes() - held_.bytes_in(addresses);
    held_.give(addresses);
    __atomic_store_n(&held_bytes_, now, __ATOMIC_RELAXED);
    if (map_->reserved_bytes < now) map_->reserved_bytes = now;
}

void Reservations::opened(Range addresses) {
    map_->opened_bytes += closed_.bytes_in(addresses);
    if (closed_.has_room()) closed_.take(addresses);
}

uint64_t Reservations::gone(Range addresses) {
    const uint64_t held = held_.bytes_in(addresses), closed = closed_.bytes_in(addresses);
    if (closed_.has_room()) closed_.take(addresses);
    if (held_.has_room()) {
        held_.take(addresses);
        __atomic_store_n(&held_bytes_, held_bytes_ - held, __ATOMIC_RELAXED);
    }
    return closed;
}

void Reservations::back(Range addresses, uint64_t closed) {
    hold(addresses);
    if (closed == addresses.bytes() && closed_.has_room()) closed_.give(addresses);
    else map_->opened_bytes += closed;
}

void Reservations::moved(Range from, Range to, bool keeps) {
    const bool held = held_.bytes_in(from) != 0;
    if (from.start == to.start && !from.empty()) {  // no move
        const Range more{from.end, to.end}, less{to.end, from.end};
        if (!less.empty()) gone(less);
        if (held && !more.empty()) hold(more);
        if (closed_.bytes_in({from.end - kPage4K, from.end}) != 0 && closed_.has_room()) closed_.give(more);
        return;
    }
    const uint64_t closed = keeps ? closed_.bytes_in(from) : gone(from);
    if (closed != 0 && closed == from.bytes() && closed_.has_room()) {
        closed_.give(to);
    } else {
        map_->opened_bytes += keeps ? 0 : closed;
        opened(to);  // accessible memory, over a reservation
    }
    if (held) hold(to);
}

}  // namespace mosalloc
