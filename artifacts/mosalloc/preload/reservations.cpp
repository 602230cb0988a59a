#include "preload/reservations.h"

#include "core/sys.h"
#include "core/table.h"
#include "core/text.h"

namespace mosalloc {
namespace {
constexpr uint64_t kMostRecorded = 64 * kPage1G;  // the recorder allows no larger pool
constexpr size_t kCapacity = 1 << 14;  // then pages that are opened several times count several times
}

bool Reservations::init(mosalloc_pool_map* map, bool allowed) {
    auto* table = static_cast<Range*>(make_table(kCapacity * sizeof(Range)));
    if (table == nullptr) return false;
    closed_.init(table, kCapacity);
    map_ = map;
    allowed_ = allowed;
    return true;
}

bool Reservations::may_leave(uint64_t bytes, uint64_t used_bytes) {
    if (allowed_ && closed_.has_room()) return true;
    if (allowed_ || refused_) return false;
    refused_ = true;
    char line[640];
    Text text(line);
    text.add("mosalloc: mmap of ").number((bytes + (1 << 20) - 1) >> 20).add("MB without access (PROT_NONE): the anonymous pool has no room for this reservation, and a "
        "recording has no memory outside its pools (ENOMEM)\n  what to do: ");
    const uint64_t enough = align_up(used_bytes + bytes + 32 * kPage2M, kPage1G);  // and what comes later
    if (enough <= kMostRecorded)
        text.add("record with --anon-pool ").size(enough);
    else
        text.add("let the program reserve less than ").size(kMostRecorded).add(" (.NET: DOTNET_GCHeapHardLimit=0x40000000), and record with "
            "--anon-pool ").size(kMostRecorded);
    text.add("; without a recording it works as it is\n");
    sys::write(2, line, text.length());
    return false;
}

void Reservations::made(Range addresses) {
    ++map_->reservation_calls;
    map_->reserved_bytes += addresses.bytes();
    closed_.give(addresses);
}

void Reservations::opened(Range addresses) {
    map_->opened_bytes += closed_.bytes_in(addresses);
    if (closed_.has_room()) closed_.take(addresses);
}

void Reservations::gone(Range addresses) {
    if (closed_.has_room()) closed_.take(addresses);
}

void Reservations::moved(Range from, Range to) {
    const uint64_t closed = closed_.bytes_in(from);
    gone(from);
    if (closed == from.bytes() && closed_.has_room()) closed_.give(to);
    else map_->opened_bytes += closed;
}

}  // namespace mosalloc
