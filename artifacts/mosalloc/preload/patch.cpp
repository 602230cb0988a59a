#include "preload/patch.h"

#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include "core/sys.h"
#include "preload/other_libc.h"

namespace mosalloc {
namespace {

constexpr unsigned char kEndbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
constexpr size_t kJumpBytes = 14;  // jmp *0(%rip), then the 64-bit address
constexpr int kGetMdwe = 66;       // PR_GET_MDWE

struct Entry {
    unsigned char* at = nullptr;
    const void* to = nullptr;
};

bool in_libc(void* symbol, const ElfW(Sym) * *elf) {
    Dl_info info = {};
    void* found = nullptr;
    if (symbol == nullptr || dladdr1(symbol, &info, &found, RTLD_DL_SYMENT) == 0 || found == nullptr) return false;
    *elf = static_cast<const ElfW(Sym)*>(found);
    return same_text(base_name(info.dli_fname), "libc.so.6");
}

/// Finds the function in libc itself. RTLD_NEXT may find a wrapper in one of the program's libraries. dlopen finds libc,
/// but it allocates memory outside the pools, so it is used only if RTLD_NEXT fails.
void* find_in_libc(const char* name, const ElfW(Sym) * *elf) {
    void* symbol = dlsym(RTLD_NEXT, name);
    if (in_libc(symbol, elf)) return symbol;
    void* libc = dlopen("libc.so.6", RTLD_NOLOAD | RTLD_LAZY);
    symbol = libc == nullptr ? nullptr : dlsym(libc, name);
    return in_libc(symbol, elf) ? symbol : nullptr;
}

/// The place of the jump: after endbr64, which indirect calls need under control-flow enforcement.
bool find_entry(const Patch& patch, Entry* out, Text* error) {
    const ElfW(Sym)* elf = nullptr;
    void* symbol = find_in_libc(patch.symbol, &elf);
    if (symbol == nullptr) {
        error->add("libc function ").add(patch.symbol).add(": not found in libc.so.6");
        return false;
    }
    out->at = static_cast<unsigned char*>(symbol);
    out->to = patch.replacement;
    size_t needed = kJumpBytes;
    if (memcmp(out->at, kEndbr64, sizeof kEndbr64) == 0) out->at += sizeof kEndbr64, needed += sizeof kEndbr64;
    if (elf->st_size >= needed) return true;
    error->add("libc function ")
        .add(patch.symbol)
        .add(": its code has ")
        .number(elf->st_size)
        .add(" bytes, but a jump needs ")
        .number(needed);
    return false;
}

/// Copies byte by byte: while the page is not executable, no libc function may be called, not even memcpy.
__attribute__((noinline)) bool write_code(unsigned char* at, const unsigned char* code, size_t bytes) {
    const uint64_t first = align_down(reinterpret_cast<uint64_t>(at), kPage4K);
    const uint64_t end = align_up(reinterpret_cast<uint64_t>(at) + bytes, kPage4K);
    if (sys::failed(sys::mprotect(first, end - first, PROT_READ | PROT_WRITE))) return false;
    volatile unsigned char* to = at;
    for (size_t i = 0; i < bytes; ++i) to[i] = code[i];
    return !sys::failed(sys::mprotect(first, end - first, PROT_READ | PROT_EXEC));
}

bool write_jump(const Entry& entry) {
    unsigned char code[kJumpBytes] = {0xff, 0x25, 0, 0, 0, 0};
    memcpy(code + 6, &entry.to, sizeof entry.to);
    return write_code(entry.at, code, sizeof code);
}

}  // namespace

bool patch_libc(const Patch* patches, size_t count, Text* error, Text* skipped) {
    if (sys::call(SYS_prctl, kGetMdwe) > 0) {
        error->add("patch libc: this process forbids memory that is writable and executable (PR_SET_MDWE)");
        return false;
    }
    constexpr size_t kMost = 32;
    Entry entries[kMost];
    if (count > kMost) __builtin_trap();
    for (size_t i = 0; i < count; ++i) {
        char why[160];
        Text unused(why);
        if (find_entry(patches[i], &entries[i], patches[i].optional ? &unused : error)) continue;
        if (!patches[i].optional) return false;
        entries[i] = {};
        skipped->add(" ").add(patches[i].symbol);
    }
    for (size_t i = 0; i < count; ++i)
        if (entries[i].at != nullptr && !write_jump(entries[i])) {
            error->add("patch libc function ")
                .add(patches[i].symbol)
                .add(": the system forbids changes to code pages (for example SELinux execmod)");
            return false;
        }
    return true;
}

bool redirect_calls(const char* caller, const char* callee, void* replacement, void** original) {
    const ElfW(Sym)* elf = nullptr;
    const auto target = reinterpret_cast<intptr_t>(find_in_libc(callee, &elf));
    auto* code = static_cast<unsigned char*>(find_in_libc(caller, &elf));
    if (target == 0 || code == nullptr) return false;
    *original = reinterpret_cast<void*>(target);
    constexpr unsigned char kCall = 0xe8;  // call rel32, counted from the next instruction
    constexpr size_t kBytes = 5;
    size_t found = 0;
    for (size_t i = 0; i + kBytes <= elf->st_size; ++i) {
        int32_t distance;
        memcpy(&distance, code + i + 1, sizeof distance);
        const auto next = reinterpret_cast<intptr_t>(code + i + kBytes);
        if (code[i] != kCall || next + distance != target) continue;
        const intptr_t wanted = reinterpret_cast<intptr_t>(replacement) - next;
        distance = static_cast<int32_t>(wanted);
        unsigned char bytes[sizeof distance];
        memcpy(bytes, &distance, sizeof distance);
        if (distance != wanted || !write_code(code + i + 1, bytes, sizeof bytes)) return false;
        ++found;
    }
    return found != 0;
}

}  // namespace mosalloc
