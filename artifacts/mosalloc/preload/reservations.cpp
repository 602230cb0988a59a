#include "preload/reservations.h"

#include "core/sys.h"
#include "core/table.h"
#include "core/text.h"

namespace mosalloc {
namespace {
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
    const uint64_t enough = align_up(used_bytes + bytes, kPage1G) + kPage1G;
    text.add("mosalloc: mmap of ").size(bytes).add(" without access (PROT_NONE): the anonymous pool has no room for this reservation, and "
        "this emulator (QEMU) needs memory for each reserved page, so the call returned ENOMEM\n"
        "  what to do: make the program reserve less (.NET: DOTNET_GCHeapHardLimit=0x10000000); or give the pool ").size(enough)
        .add(", which needs about ").size(align_up(enough / kPage4K * 16, 1 << 20)).add(" of memory: --anon-pool ").size(enough)
        .add(", in a layout: mmap,-1,0,").size(enough).add("\n");
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
