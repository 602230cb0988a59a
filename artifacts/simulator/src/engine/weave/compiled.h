// compiled.h - templates as static blocks of the stream, and the accesses that an execution of each makes.
//
// A template is cut into blocks of at most 48 accesses, and 256 instructions. Instructions between two accesses are additions that wait
// for nothing. A load outside the stack needs the value of the load before it, because a recording does not have registers: the kernel
// follows pointers (assumed). Each line of a repeated string instruction is a part of it with an access, as in traces.
#pragma once

#include <map>
#include <vector>

#include "engine/weave/templates.h"
#include "tessera/trace/trace.h"

namespace tessera::sim::weave {

struct TemplateAccess {
    Base base;
    bool store;
    uint64_t offset;
};

/// An execution of a block.
struct Piece {
    uint32_t block;     ///< in the stream
    uint32_t accesses;  ///< the next places of the template
};

struct Compiled {
    std::string kind;
    uint32_t tables;
    bool batch;
    std::vector<Piece> pieces;
    std::vector<TemplateAccess> places;
};

class CompiledTemplates {
public:
    /// first_block: number of the first block that is made here.
    CompiledTemplates(const Templates& templates, size_t first_block);

    const std::vector<trace::StaticBlock>& blocks() const { return blocks_; }
    uint32_t entry_block() const { return entry_; }
    uint32_t exit_block() const { return entry_ + 1; }
    /// The template of a kind with the most tables, but not more than these, and with a batch if one is asked for and there is one. Null:
    /// there is none of this kind.
    const Compiled* find(const std::string& kind, uint32_t tables, bool batch) const;

private:
    class Maker;
    Compiled compile(const FaultTemplate& of);

    uint32_t first_, entry_;
    std::vector<trace::StaticBlock> blocks_;
    std::map<std::string, std::vector<Compiled>> by_kind_;
};

}  // namespace tessera::sim::weave
