#include "engine/replay.h"

#include <algorithm>

#include "engine/replay_group.h"
#include "engine/scalar/tlb_group.h"
#include "mmu/components.h"
#include "os/mapping.h"

namespace tessera::sim {
namespace {

/// The groups of a request, and the place of each one's cells in it.
class Groups {
public:
    Groups(const CellsRequest& request, bool with_clock)
        : request_(request),
          outcomes_(with_clock && !request.plan.tlbs() ? std::make_unique<Outcomes>() : nullptr),
          logs_(request.stream.blocks()),
          refusals_(request.cells.size()),
          program_blocks_(program_blocks(request.stream.blocks())),
          weaves_(program_blocks_ < request.stream.blocks().size()) {
        std::vector<OnLanes> on_lanes;
        for (size_t i = 0; i < request.cells.size(); ++i) {
            const Cell& cell = request.cells[i];
            if (!accepted(i)) continue;
            if (cell.layout->mapping == nullptr && lanes_lack(*cell.platform).empty()) {
                const auto known = std::find_if(on_lanes.begin(), on_lanes.end(), [&](const OnLanes& row) {
                    return row.platforms.front() == cell.platform && row.layouts.size() < max_lanes;
                });
                if (known == on_lanes.end()) on_lanes.push_back({{cell.platform}, {cell.layout}, {i}});
                else known->layouts.push_back(cell.layout), known->cells.push_back(i);
            } else if (request.plan.tlbs()) add_to_tlb_group(i);
            else add_group({{cell.platform}, {cell.layout}, {i}}, &logs_);
        }
        for (const OnLanes& row : share_stages(on_lanes)) add_group(row, nullptr);
    }

    /// All groups over the stream.
    template <class Cursor>
    void pass(Cursor cursor) {
        trace::Frame frame;
        request_.stream.rewind();
        while (any_alive() && request_.stream.next(frame)) {
            const std::vector<Segment>& segments = cursor.cut(frame);
            logs_.begin_frame();
            for (Row& row : rows_) {
                if (!row.alive) continue;
                logs_.rewind();
                try {
                    row.alive = row.group->frame(frame, segments);
                } catch (const Refusal& refusal) {
                    refuse(row, refusal);
                }
            }
            request_.progress((weaves_ ? program_accesses(frame, program_blocks_) : frame.addresses.size()) * request_.cells.size());
        }
    }

    void begin_counts() {
        for (Row& row : rows_) row.group->begin_counts();
    }

    std::vector<CellCounts> finish() {
        std::vector<CellCounts> found(request_.cells.size());
        for (Row& row : rows_) {
            std::vector<CellCounts> of_group = row.group->finish();
            for (size_t i = 0; i < row.cells.size(); ++i) found[row.cells[i]] = std::move(of_group[i]);
        }
        for (size_t i = 0; i < found.size(); ++i)
            if (refusals_[i]) found[i].refusal = refusals_[i];
        return found;
    }

private:
    /// Layouts, and the platforms that they all are under; cells of the first platform come first.
    struct OnLanes {
        std::vector<const Platform*> platforms;
        std::vector<const Layout*> layouts;
        std::vector<size_t> cells;
    };
    struct Row {
        std::unique_ptr<CellGroup> group;
        std::vector<size_t> cells;
        bool alive = true;
    };

    bool any_alive() const {
        return std::any_of(rows_.begin(), rows_.end(), [](const Row& row) { return row.alive; });
    }
    void refuse(Row& row, const Refusal& refusal) {
        row.alive = false;
        for (const size_t i : row.cells) refusals_[i] = refusal;
    }
    bool accepted(size_t i) {
        const Cell& cell = request_.cells[i];
        try {
            check_components(*cell.platform);
            check_epochs(*cell.layout, request_.warm_passes);
        } catch (const Refusal& refusal) {
            refusals_[i] = refusal;
        }
        return !refusals_[i];
    }
    /// Platforms that differ in time alone, with the same layouts, become one group.
    static std::vector<OnLanes> share_stages(const std::vector<OnLanes>& groups) {
        std::vector<OnLanes> shared;
        for (const OnLanes& group : groups) {
            const auto same = std::find_if(shared.begin(), shared.end(), [&](const OnLanes& row) {
                return row.layouts == group.layouts && same_on_lanes(*row.platforms.front(), *group.platforms.front());
            });
            if (same == shared.end()) {
                shared.push_back(group);
                continue;
            }
            same->platforms.push_back(group.platforms.front());
            same->cells.insert(same->cells.end(), group.cells.begin(), group.cells.end());
        }
        return shared;
    }
    void add_group(const OnLanes& group, SharedLogs* shared) {
        Row row{nullptr, group.cells};
        try {
            row.group = std::make_unique<ReplayGroup>(request_, group.platforms, group.layouts, outcomes_.get(), shared);
            rows_.push_back(std::move(row));
        } catch (const Refusal& refusal) {
            refuse(row, refusal);
        }
    }
    /// Cells of one layout whose chunks have the same events.
    void add_to_tlb_group(size_t i) {
        const auto& [platform, layout] = request_.cells[i];
        try {
            auto& [group, row] = tlb_groups_[{layout, SharedLogs::event_keys(*platform)}];
            if (group == nullptr) {
                auto made = std::make_unique<scalar::TlbGroup>(request_.stream, *layout, logs_.events(*platform));
                group = made.get(), row = rows_.size();
                rows_.push_back({std::move(made), {}});
            }
            group->add(*platform);
            rows_[row].cells.push_back(i);
        } catch (const Refusal& refusal) {
            refusals_[i] = refusal;
        }
    }

    const CellsRequest& request_;
    std::unique_ptr<Outcomes> outcomes_;
    SharedLogs logs_;
    std::vector<std::optional<Refusal>> refusals_;  ///< of each cell
    size_t program_blocks_;
    bool weaves_;
    std::vector<Row> rows_;
    std::map<std::pair<const Layout*, std::string>, std::pair<scalar::TlbGroup*, size_t>> tlb_groups_;
};

}  // namespace

std::vector<CellCounts> replay(const CellsRequest& request, bool with_clock) {
    Groups groups(request, with_clock);
    for (uint64_t i = 0; i < request.warm_passes; ++i) groups.pass(WarmCursor(request.plan));
    groups.begin_counts();
    groups.pass(PlanCursor(request.plan, request.stream.blocks()));
    return groups.finish();
}

}  // namespace tessera::sim
