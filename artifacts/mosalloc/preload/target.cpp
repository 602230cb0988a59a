#include "preload/target.h"

#include <cstring>
#include <sys/stat.h>

#include "core/sys.h"
#include "core/text.h"
#include "mosalloc/starters.h"

namespace mosalloc {

void own_path(char* out, unsigned long bytes) {
    const long length = sys::readlink("/proc/self/exe", out, bytes - 1);
    out[length < 0 ? 0 : length] = 0;
}

Kind kind_of_program(const char* argv0) {
    char executable[4096];
    own_path(executable, sizeof executable);
    const char* name = base_name(executable);
    // One file with many commands: the name that it was started with says which.
    if (same_text(name, "coreutils") && argv0 != nullptr) name = base_name(argv0);
    return mosalloc_is_one_of(kMosallocStarters, name) ? Kind::starter
           : mosalloc_is_one_of(kMosallocShells, name) ? Kind::shell
                                                       : Kind::program;
}

bool is_target(const char* target, const char* argv0) {
    if (target == nullptr) return true;
    char executable[4096];
    own_path(executable, sizeof executable);
    if (strchr(target, '/') == nullptr)
        return same_text(base_name(executable), target) || (argv0 != nullptr && same_text(base_name(argv0), target));
    // The link is read and then looked up by name: QEMU emulates the reading of /proc/self/exe only.
    struct stat mine = {}, wanted = {};
    return !sys::failed(sys::call(SYS_stat, reinterpret_cast<long>(executable), reinterpret_cast<long>(&mine))) &&
           !sys::failed(sys::call(SYS_stat, reinterpret_cast<long>(target), reinterpret_cast<long>(&wanted))) &&
           mine.st_dev == wanted.st_dev && mine.st_ino == wanted.st_ino;
}

}  // namespace mosalloc
