#include "engine/replay.h"

#include <algorithm>

#include "engine/crossings.h"
#include "engine/plan.h"
#include "engine/replay_group.h"
#include "engine/any_design/tlb_group.h"
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
        std::vector<size_t> accepted;
        for (size_t i = 0; i < request.cells.size(); ++i)
            if (accepts(i)) accepted.push_back(i);
        for (const StageCells& stage : stages_of(request.cells, accepted, request.plan.tlbs())) {
            if (stage.path == StageCells::Path::tlbs) add_tlb_group(stage);
            else add_group(stage);
        }
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
    bool accepts(size_t i) {
        const Cell& cell = request_.cells[i];
        try {
            check_components(*cell.platform);
            check_epochs(*cell.layout, request_.warm_passes);
        } catch (const Refusal& refusal) {
            refusals_[i] = refusal;
        }
        return !refusals_[i];
    }
    void add_group(const StageCells& stage) {
        Row row{nullptr, stage.cells};
        try {
            row.group = std::make_unique<ReplayGroup>(request_, stage.platforms, stage.layouts, outcomes_.get(),
                                                      stage.path == StageCells::Path::lanes ? nullptr : &logs_);
            rows_.push_back(std::move(row));
        } catch (const Refusal& refusal) {
            refuse(row, refusal);
        }
    }
    void add_tlb_group(const StageCells& stage) {
        auto group =
            std::make_unique<any_design::TlbGroup>(request_.stream, *stage.layouts.front(), logs_.events(*stage.platforms.front()));
        std::vector<size_t> added;
        for (size_t i = 0; i < stage.cells.size(); ++i) try {
                group->add(*stage.platforms[i]);
                added.push_back(stage.cells[i]);
            } catch (const Refusal& refusal) {
                refusals_[stage.cells[i]] = refusal;
            }
        rows_.push_back({std::move(group), added});
    }

    const CellsRequest& request_;
    std::unique_ptr<Outcomes> outcomes_;
    SharedLogs logs_;
    std::vector<std::optional<Refusal>> refusals_;  ///< of each cell
    size_t program_blocks_;
    bool weaves_;
    std::vector<Row> rows_;
};

}  // namespace

std::vector<CellCounts> replay(const CellsRequest& request, bool with_clock) {
    check_slot_sizes(request.stream.blocks());
    Groups groups(request, with_clock);
    for (uint64_t i = 0; i < request.warm_passes; ++i) groups.pass(WarmCursor(request.plan));
    groups.begin_counts();
    groups.pass(PlanCursor(request.plan, request.stream.blocks()));
    return groups.finish();
}

}  // namespace tessera::sim
