#include "engine/weave/fault_times.h"

#include "base/text.h"

namespace tessera::sim::weave {

std::string fault_times_header() { return "layout,fault,access,page,kind,page_bytes,tables,batch,cycles"; }

std::string format_fault_times(const Layout& layout, const std::vector<FaultTime>& times, const std::vector<WovenFault>& faults) {
    const std::string name = csv_field(layout.name) + ",";
    std::string text;
    for (const FaultTime& time : times) {
        const WovenFault& fault = faults.at(time.fault);
        text += name + std::to_string(time.fault) + "," + std::to_string(fault.access) + "," + std::to_string(fault.page) + "," +
                fault.work->kind + "," + std::to_string(fault.page_bytes()) + "," + std::to_string(fault.tables) +
                (fault.work->batch ? ",1," : ",0,") + std::to_string(time.cycles) + "\n";
    }
    return text;
}

}  // namespace tessera::sim::weave
