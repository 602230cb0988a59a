#include "run/sanitizers.h"

#include <cstdio>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <string_view>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace mosalloc::run {
namespace {

struct Kind {
    const char* name;
    const char* library;  ///< gcc's; clang's is libclang_rt.<library>
    const char* start;    ///< the function that compiled code calls
    const char* options;  ///< the variable that the runtime reads
};
/// AddressSanitizer contains LeakSanitizer, so the order counts.
constexpr Kind kKinds[] = {{"AddressSanitizer", "asan", "__asan_init", "ASAN_OPTIONS"},
                           {"HWAddressSanitizer", "hwasan", "__hwasan_init", "HWASAN_OPTIONS"},
                           {"ThreadSanitizer", "tsan", "__tsan_init", "TSAN_OPTIONS"},
                           {"MemorySanitizer", "msan", "__msan_init", "MSAN_OPTIONS"},
                           {"LeakSanitizer", "lsan", "__lsan_init", "LSAN_OPTIONS"}};

bool starts_with(std::string_view text, const std::string& start) { return text.compare(0, start.size(), start) == 0; }

/// By the name of a runtime's file: libasan.so.8, libclang_rt.asan-x86_64.so, libclang_rt.asan.so.
const Kind* kind_of_library(std::string_view path) {
    const std::string_view name = path.substr(path.rfind('/') + 1);
    for (const Kind& kind : kKinds) {
        const std::string library = kind.library;
        if (starts_with(name, "lib" + library + ".so") || starts_with(name, "libclang_rt." + library + ".so") ||
            starts_with(name, "libclang_rt." + library + "-"))
            return &kind;
    }
    return nullptr;
}

/// A file in memory. What lies outside it reads as nothing.
class File {
public:
    explicit File(const std::string& path) {
        const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        struct stat status = {};
        if (fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
            void* at = mmap(nullptr, static_cast<size_t>(status.st_size), PROT_READ, MAP_PRIVATE, fd, 0);
            if (at != MAP_FAILED) all_ = {static_cast<const char*>(at), static_cast<size_t>(status.st_size)};
        }
        if (fd >= 0) close(fd);
    }
    ~File() {
        if (!all_.empty()) munmap(const_cast<char*>(all_.data()), all_.size());
    }
    File(const File&) = delete;
    File& operator=(const File&) = delete;

    std::string_view all() const { return all_; }
    std::string_view part(uint64_t start, uint64_t bytes) const {
        return start > all_.size() || bytes > all_.size() - start ? std::string_view() : all_.substr(start, bytes);
    }

private:
    std::string_view all_;
};

/// Row `index` of a table of Ts; false behind its end.
template <class T>
bool row(std::string_view table, uint64_t index, T* out) {
    if (index >= table.size() / sizeof(T)) return false;
    memcpy(out, table.data() + index * sizeof(T), sizeof(T));
    return true;
}

/// The text at `start`, up to its zero byte.
std::string_view text_at(std::string_view texts, uint64_t start) {
    if (start >= texts.size()) return {};
    const std::string_view rest = texts.substr(start);
    return rest.substr(0, rest.find('\0'));
}

const Kind* kind_of_needed(std::string_view entries, std::string_view texts) {
    Elf64_Dyn entry;
    for (uint64_t i = 0; row(entries, i, &entry) && entry.d_tag != DT_NULL; ++i)
        if (entry.d_tag == DT_NEEDED)
            if (const Kind* kind = kind_of_library(text_at(texts, entry.d_un.d_val))) return kind;
    return nullptr;
}

/// Static runtimes. clang's export their functions. Of gcc's, a stripped file has the malloc that libc calls, and the weak
/// references __sanitizer_... of all runtimes; the name of the variable tells which one.
const Kind* kind_of_symbols(const File& file, std::string_view symbols, std::string_view texts) {
    bool own_malloc = false, runtime = false;
    Elf64_Sym symbol;
    for (uint64_t i = 0; row(symbols, i, &symbol); ++i) {
        const std::string_view name = text_at(texts, symbol.st_name);
        const bool defined = symbol.st_shndx != SHN_UNDEF;
        own_malloc |= defined && name == "malloc";
        runtime |= starts_with(name, "__sanitizer_");
        if (!defined && ELF64_ST_BIND(symbol.st_info) == STB_WEAK) continue;  // code that only asks whether it is there
        for (const Kind& kind : kKinds)
            if (name == kind.start) return &kind;
    }
    if (!own_malloc || !runtime) return nullptr;
    for (const Kind& kind : kKinds) {
        const std::string whole = std::string(1, '\0') + kind.options + '\0';
        if (file.all().find(whole) != std::string_view::npos) return &kind;
    }
    return nullptr;
}

}  // namespace

std::string sanitizer_of_file(const std::string& path) {
    const File file(path);
    Elf64_Ehdr header;
    if (!row(file.all(), 0, &header) || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_shentsize != sizeof(Elf64_Shdr))
        return "";
    const std::string_view sections = file.part(header.e_shoff, uint64_t{header.e_shnum} * sizeof(Elf64_Shdr));
    Elf64_Shdr section, linked;
    for (uint64_t i = 0; row(sections, i, &section); ++i) {
        if ((section.sh_type != SHT_DYNAMIC && section.sh_type != SHT_DYNSYM) || !row(sections, section.sh_link, &linked)) continue;
        const std::string_view table = file.part(section.sh_offset, section.sh_size);
        const std::string_view texts = file.part(linked.sh_offset, linked.sh_size);
        const Kind* kind = section.sh_type == SHT_DYNAMIC ? kind_of_needed(table, texts) : kind_of_symbols(file, table, texts);
        if (kind != nullptr) return kind->name;
    }
    return "";
}

std::string sanitizer_of_list(const std::string& libraries) {
    for (size_t start = 0; start < libraries.size();) {
        size_t end = libraries.find_first_of(": ", start);
        if (end == std::string::npos) end = libraries.size();
        if (const Kind* kind = kind_of_library(std::string_view(libraries).substr(start, end - start))) return kind->name;
        start = end + 1;
    }
    return "";
}

std::string sanitizer_of_process(int pid) {
    const std::string folder = "/proc/" + std::to_string(pid);
    std::string found = sanitizer_of_file(folder + "/exe");
    FILE* maps = fopen((folder + "/maps").c_str(), "re");
    if (maps == nullptr) return found;
    char line[4400];
    while (found.empty() && fgets(line, sizeof line, maps) != nullptr) {
        line[strcspn(line, "\n")] = 0;
        const char *rights = strchr(line, ' '), *path = strchr(line, '/');
        if (path == nullptr || rights == nullptr || strncmp(rights, " r-x", 4) != 0) continue;  // its code, not a file that is read
        if (const Kind* kind = kind_of_library(path)) found = kind->name;
    }
    fclose(maps);
    return found;
}

std::string why_not(const std::string& sanitizer) {
    return "built with " + sanitizer +
           ", whose allocator replaces malloc and takes its memory by raw system calls, so the "
           "layout would not reach it";
}

std::string build_without(const std::string& sanitizer) {
    const char* flag = sanitizer == "ThreadSanitizer"      ? "thread"
                       : sanitizer == "LeakSanitizer"      ? "leak"
                       : sanitizer == "MemorySanitizer"    ? "memory"
                       : sanitizer == "HWAddressSanitizer" ? "hwaddress"
                                                           : "address";
    return std::string("build the program without -fsanitize=") + flag +
           ", and test it with the sanitizer without mosalloc (-fsanitize=undefined alone works with mosalloc)";
}

void Sanitized::look(int pid, bool with_layout) {
    if (has_layout || (!sanitizer.empty() && !with_layout)) return;
    const std::string found = sanitizer_of_process(pid);
    if (found.empty()) return;
    char path[4096];
    const ssize_t length = readlink(("/proc/" + std::to_string(pid) + "/exe").c_str(), path, sizeof path);
    sanitizer = found;
    has_layout = with_layout;
    program = length > 0 ? std::string(path, static_cast<size_t>(length)) : "of process " + std::to_string(pid);
}

}  // namespace mosalloc::run
