// table.h - memory for the library's own tables. Untouched tables use no memory.
#pragma once

#include "core/base.h"

namespace mosalloc {

/// Zeroed private memory with 4KB pages, null when refused. Tables are made at start only, before there are
/// threads.
void* make_table(uint64_t bytes);
/// Gives a table back.
void drop_table(void* table, uint64_t bytes);
/// Where the tables are: not the program's memory.
size_t table_count();
Range table_at(size_t i);

}  // namespace mosalloc
