#include "preload/outside.h"

#include "core/sys.h"
#include "core/table.h"

namespace mosalloc {
namespace {
constexpr size_t kCapacity = 1 << 16;  // beyond this number, only the launcher's account of memory is incomplete
}

bool Outside::init(mosalloc_pool_map* map) {
    auto* table = static_cast<Range*>(make_table(kCapacity * sizeof(Range)));
    if (table == nullptr) return false;
    ranges_.init(table, kCapacity);
    map_ = map;
    map_->outside_address = reinterpret_cast<uint64_t>(table);
    for (size_t i = 0; i < table_count(); ++i) mapped(table_at(i));
    return true;
}

void Outside::publish() { map_->outside_count = ranges_.count(); }

void Outside::mapped(Range addresses) {
    if (ranges_.has_room()) ranges_.give(addresses);
    publish();
}

void Outside::unmapped(Range addresses) {
    if (ranges_.has_room()) ranges_.take(addresses);
    publish();
}

void Outside::moved(Range from, Range to) {
    if (ranges_.is_taken(from)) return;  // not one of ours: a file, shared memory
    unmapped(from);
    mapped(to);
}

}  // namespace mosalloc
