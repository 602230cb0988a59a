#include "run/analysis.h"

#include <cinttypes>
#include <ctime>

#include "run/json.h"
#include "run/output.h"

namespace mosalloc::run {
namespace {

uint64_t now_ms() {
    timespec t = {};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<uint64_t>(t.tv_sec) * 1000 + static_cast<uint64_t>(t.tv_nsec) / 1000000;
}

}  // namespace

void Analysis::sample(const mosalloc_pool_map& map) {
    if (started_ms_ == 0) started_ms_ = now_ms();
    if (map.state != 1 || calls_++ % every_ != 0) return;
    const mosalloc_pool &heap = map.pools[MOSALLOC_POOL_HEAP], &anon = map.pools[MOSALLOC_POOL_ANON], &f = map.file_pool;
    rows_.push_back(
        {now_ms() - started_ms_, heap.live_bytes, heap.used_bytes, anon.live_bytes, anon.used_bytes, f.live_bytes, f.used_bytes});
    if (rows_.size() == kMostRows) thin();
}

void Analysis::thin() {
    for (size_t i = 0; 2 * i < rows_.size(); ++i) rows_[i] = rows_[2 * i];
    rows_.resize(rows_.size() / 2);
    every_ *= 2;
}

bool Analysis::write(const std::string& path, const mosalloc_pool_map& map, const Outside& outside) const {
    FILE* file = fopen(path.c_str(), "w");
    if (file == nullptr) return false;
    fprintf(file, "{\n  \"interval_ms\": %" PRIu64 ",\n", interval_ms_ * every_);
    write_pools(file, map);
    write_calls(file, map);
    write_counters(file, map);
    write_children(file, map.children);
    write_outside(file, outside);
    fputs(
        "  \"columns\": [\"time_ms\", \"heap_live_bytes\", \"heap_used_bytes\", \"anon_live_bytes\", "
        "\"anon_used_bytes\", \"file_live_bytes\", \"file_used_bytes\"],\n  \"samples\": [",
        file);
    for (size_t i = 0; i < rows_.size(); ++i) {
        fputs(i == 0 ? "\n    [" : ",\n    [", file);
        for (size_t c = 0; c < kColumns; ++c) fprintf(file, "%s%" PRIu64, c == 0 ? "" : ", ", rows_[i][c]);
        fputs("]", file);
    }
    fputs("\n  ]\n}\n", file);
    return close_whole(file, path);
}

}  // namespace mosalloc::run
