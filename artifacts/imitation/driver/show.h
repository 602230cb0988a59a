// show.h - what a log says, as text and as tables (docs/reference/scenarios.md, "What show prints").
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "tessera/os/log.h"

namespace tessera::os {

/// Names of the tables of --csv.
const std::vector<std::string> &show_tables();

/// The summary.
void show(Reader &log, std::FILE *out);

/// One table. pre: `table` is one of show_tables().
void show_table(Reader &log, const std::string &table, std::FILE *out);

}  // namespace tessera::os
