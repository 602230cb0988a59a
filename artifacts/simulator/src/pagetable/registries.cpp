// registries.cpp - the registry of page-table formats.
#include "pagetable/format.h"

namespace tessera::sim {

Registry<PageTableFormat, const DesignContext&>& page_table_formats() {
    static Registry<PageTableFormat, const DesignContext&> registry("page-table format");
    return registry;
}

}  // namespace tessera::sim
