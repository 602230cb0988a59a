#include "preload/target.h"

#include <cstring>
#include <sys/stat.h>

#include "core/sys.h"
#include "core/text.h"

namespace mosalloc {

bool is_target(const char* target, const char* argv0) {
    if (target == nullptr) return true;
    char executable[4096];
    const long length = sys::readlink("/proc/self/exe", executable, sizeof executable - 1);
    executable[length < 0 ? 0 : length] = 0;
    if (strchr(target, '/') == nullptr)
        return same_text(base_name(executable), target) || (argv0 != nullptr && same_text(base_name(argv0), target));
    // The link is read and then looked up by name: QEMU emulates the reading of /proc/self/exe only.
    struct stat mine = {}, wanted = {};
    return !sys::failed(sys::call(SYS_stat, reinterpret_cast<long>(executable), reinterpret_cast<long>(&mine))) &&
           !sys::failed(sys::call(SYS_stat, reinterpret_cast<long>(target), reinterpret_cast<long>(&wanted))) &&
           mine.st_dev == wanted.st_dev && mine.st_ino == wanted.st_ino;
}

}  // namespace mosalloc
