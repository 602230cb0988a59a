// options.h - the command line of a life.
#pragma once

#include "life.h"

namespace lives {

/// Ends the program with status 2 if a word is wrong.
Options read_options(int count, char** words);
/// What the seed chose, without what the options leave out.
Features choose_features(const Options& options);

}  // namespace lives
