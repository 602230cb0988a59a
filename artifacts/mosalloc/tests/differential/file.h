// file.h - the files of a thread.
#pragma once

#include "state.h"

namespace differential {

/// Its own file, so that what other threads write to shared mappings is not seen. Ends the program if there is none.
void make_file(Thread& t);

}  // namespace differential
