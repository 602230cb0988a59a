#include "run/elf_check.h"

#include <cstdio>
#include <cstring>
#include <elf.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <vector>

#include "run/sanitizers.h"

namespace mosalloc::run {
namespace {

/// Path of the dynamic linker in the program's PT_INTERP; empty in a static program.
std::string interpreter(FILE* file, const Elf64_Ehdr& header) {
    for (unsigned i = 0; i < header.e_phnum; ++i) {
        Elf64_Phdr part;
        if (fseek(file, static_cast<long>(header.e_phoff + i * sizeof part), SEEK_SET) != 0 || fread(&part, sizeof part, 1, file) != 1)
            return "";
        if (part.p_type != PT_INTERP || part.p_filesz == 0 || part.p_filesz > 4096) continue;
        std::vector<char> text(part.p_filesz + 1, 0);
        if (fseek(file, static_cast<long>(part.p_offset), SEEK_SET) != 0 || fread(text.data(), part.p_filesz, 1, file) != 1) return "";
        return text.data();
    }
    return "";
}

Refusal check_contents(FILE* file, const std::string& path) {
    Elf64_Ehdr header = {};
    const size_t got = fread(&header, 1, sizeof header, file);
    if (got >= 2 && memcmp(&header, "#!", 2) == 0) {
        char line[256] = {};
        rewind(file);
        if (fgets(line, sizeof line, file) == nullptr) line[0] = 0;
        line[strcspn(line, "\n")] = 0;
        std::string program(line + 2 + strspn(line + 2, " "));
        const std::string env = "/usr/bin/env ";
        if (program.compare(0, env.size(), env) == 0) program.erase(0, env.size());
        const std::string started = "-- " + program + " " + path;
        return {"it is a script", "name its interpreter: " + started + " ..., or the executable that it starts: --target EXE " + started};
    }
    if (got != sizeof header || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return {"it is not an ELF executable", "name an executable"};
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != EM_X86_64)
        return {"it is not an x86-64 executable", "use a 64-bit build for x86-64"};
    const std::string linker = interpreter(file, header);
    if (linker.empty()) return {"it is statically linked, so it cannot load libmosalloc.so", "link it dynamically (without -static)"};
    if (linker.find("musl") != std::string::npos)
        return {"it uses musl (its dynamic linker is " + linker + "), and libmosalloc.so needs glibc 2.34 or later",
                "run a build of the program for glibc: another distribution's package (Alpine's use musl), or your own"};
    if (const std::string sanitizer = sanitizer_of_file(path); !sanitizer.empty())
        return {"it is " + why_not(sanitizer), build_without(sanitizer)};
    return {};
}

}  // namespace

Refusal check_program(const std::string& path) {
    struct stat status = {};
    if (stat(path.c_str(), &status) != 0) return {"no such file", "check the path"};
    if (!S_ISREG(status.st_mode)) return {"it is not a regular file", "name an executable"};
    const bool changes_user = (status.st_mode & S_ISUID) != 0 && status.st_uid != geteuid();
    const bool changes_group = (status.st_mode & S_ISGID) != 0 && status.st_gid != getegid();
    if (changes_user || changes_group)
        return {"it has the set-user-ID or set-group-ID bit, and the system drops LD_PRELOAD for such programs (AT_SECURE)",
                "run a copy without these bits"};
    // Root has all capabilities already, so for root they change nothing.
    if (geteuid() != 0 && getxattr(path.c_str(), "security.capability", nullptr, 0) > 0)
        return {"it has file capabilities, and the system drops LD_PRELOAD for such programs (AT_SECURE)",
                "run a copy without capabilities"};
    FILE* file = fopen(path.c_str(), "rb");
    if (file == nullptr) return {"it cannot be read", "make the file readable: chmod u+r"};
    const Refusal refusal = check_contents(file, path);
    fclose(file);
    return refusal;
}

}  // namespace mosalloc::run
