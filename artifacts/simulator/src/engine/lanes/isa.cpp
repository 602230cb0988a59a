#include "engine/lanes/isa.h"

#include <new>
#include <string>

#include "base/isa.h"
#include "engine/lanes/inline.h"

namespace tessera::sim::lanes {

void out_of_memory() { throw std::bad_alloc(); }

std::unique_ptr<Machine> make_machine(const MachineConfig& config) {
    const std::string isa = chosen_isa();
    if (isa == "avx512") return std::unique_ptr<Machine>(make_machine_avx512(config));
    return std::unique_ptr<Machine>(isa == "avx2" ? make_machine_avx2(config) : make_machine_baseline(config));
}

}  // namespace tessera::sim::lanes
