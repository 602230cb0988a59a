// prepared_edges.h - the edges of a prepared graph, read from its file row by row, for verifiers.
//
// Drawing the edges of a graph of gigabytes again costs as much as building it, and both ends of an edge lie at random
// places. In a row one end stays. The rows were compared with the drawn edges when the file was written
// (row_buckets.h), and a verifier reads the direction that its kernel does not use, where there is one.
#pragma once

#include <utility>

#include "common/prepared_rows.h"
#include "common/visit_edges.h"

namespace tessera::workloads {

class PreparedEdges {
public:
    PreparedEdges(const PreparedFile& file, Direction direction, uint64_t vertices)
        : file_(file),
          direction_(direction),
          name_(direction == Direction::outgoing ? "outgoing" : "incoming"),
          offsets_(file.load<uint64_t>("verifier's offsets", name_ + "-offsets", vertices + 1)) {}

    uint64_t vertices() const { return offsets_.size() - 1; }
    uint64_t count() const { return offsets_[vertices()]; }

    /// Calls visit(edge, number) for each edge until it returns false; `fetch` may only prefetch.
    template <class Fetch, class Visit>
    void visit(Fetch&& fetch, Visit&& visit) const {
        constexpr uint64_t kAhead = 32, kRoom = kSumBytes / sizeof(int32_t);
        if (count() == 0) return;  // the file has one unused entry
        AnonymousArray<int32_t> buffer("verifier's part of the rows", kRoom);
        uint64_t row = 0, fetched_row = 0;
        bool go_on = true;
        file_.stream(name_ + "-ends", buffer.data(), kRoom, [&](uint64_t first, const int32_t* ends, uint64_t filled) {
            const auto edge_at = [&](uint64_t i, uint64_t& at) {
                while (at < vertices() && offsets_[at + 1] <= first + i) ++at;
                if (at == vertices()) file_.damaged("the offsets of '" + name_ + "' end before its rows");
                if (static_cast<uint64_t>(ends[i]) >= vertices()) file_.damaged("an end of '" + name_ + "' is no vertex");
                const auto here = static_cast<int64_t>(at);
                return direction_ == Direction::outgoing ? Edge{here, ends[i]} : Edge{ends[i], here};
            };
            for (uint64_t i = 0; go_on && i < filled + kAhead; ++i) {
                if (i < filled) fetch(edge_at(i, fetched_row));
                if (i >= kAhead && i - kAhead < filled) go_on = visit(edge_at(i - kAhead, row), first + i - kAhead);
            }
        });
    }

private:
    const PreparedFile& file_;
    Direction direction_;
    std::string name_;
    AnonymousArray<uint64_t> offsets_;
};

template <class Fetch, class Visit>
void visit_edges(const PreparedEdges& edges, Fetch&& fetch, Visit&& visit) {
    edges.visit(std::forward<Fetch>(fetch), std::forward<Visit>(visit));
}

/// Calls verify(edges) with the rows of the prepared file, or with the edge source if there is no file.
template <class EdgeSource, class Verify>
decltype(auto) on_edges(const std::optional<PreparedFile>& prepared, Direction direction, const EdgeSource& edge, Verify&& verify) {
    if (!prepared) return verify(edge);
    return verify(PreparedEdges(*prepared, direction, edge.vertices()));
}

}  // namespace tessera::workloads
