#include "preload/patch.h"

#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include "core/sys.h"

namespace mosalloc {
namespace {

constexpr unsigned char kEndbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
constexpr size_t kJumpBytes = 14;  // jmp *0(%rip), then the address: reaches everywhere
constexpr int kGetMdwe = 66;       // PR_GET_MDWE

struct Entry {
    unsigned char* at = nullptr;
    const void* to = nullptr;
};

bool in_libc(void* symbol, const ElfW(Sym)** elf) {
    Dl_info info = {};
    void* found = nullptr;
    if (symbol == nullptr || dladdr1(symbol, &info, &found, RTLD_DL_SYMENT) == 0 || found == nullptr) return false;
    *elf = static_cast<const ElfW(Sym)*>(found);
    return same_text(base_name(info.dli_fname), "libc.so.6");
}

/// Where the jump goes: behind endbr64, which indirect calls need under control-flow enforcement.
bool find_entry(const Patch& patch, Entry* out, Text* error) {
    const ElfW(Sym)* elf = nullptr;
    // RTLD_NEXT can find a wrapper of the program's own libraries instead. dlopen finds libc itself, but allocates,
    // and what malloc gets now lies outside the pools: only if need be.
    void* symbol = dlsym(RTLD_NEXT, patch.symbol);
    if (!in_libc(symbol, &elf)) {
        void* libc = dlopen("libc.so.6", RTLD_NOLOAD | RTLD_LAZY);
        symbol = libc == nullptr ? nullptr : dlsym(libc, patch.symbol);
    }
    if (!in_libc(symbol, &elf)) {
        error->add("libc function ").add(patch.symbol).add(": not found in libc.so.6");
        return false;
    }
    out->at = static_cast<unsigned char*>(symbol);
    out->to = patch.replacement;
    size_t needed = kJumpBytes;
    if (memcmp(out->at, kEndbr64, sizeof kEndbr64) == 0) out->at += sizeof kEndbr64, needed += sizeof kEndbr64;
    if (elf->st_size >= needed) return true;
    error->add("libc function ").add(patch.symbol).add(": has ").number(elf->st_size)
        .add(" bytes, a jump needs ").number(needed);
    return false;
}

/// Byte by byte: while its page is not executable, no function of libc may be called, memcpy neither.
__attribute__((noinline)) bool write_jump(const Entry& entry) {
    const uint64_t first = align_down(reinterpret_cast<uint64_t>(entry.at), kPage4K);
    const uint64_t end = align_up(reinterpret_cast<uint64_t>(entry.at) + kJumpBytes, kPage4K);
    if (sys::failed(sys::mprotect(first, end - first, PROT_READ | PROT_WRITE))) return false;
    volatile unsigned char* to = entry.at;
    const unsigned char opcode[6] = {0xff, 0x25, 0, 0, 0, 0};
    for (size_t i = 0; i < 6; ++i) to[i] = opcode[i];
    const uint64_t address = reinterpret_cast<uint64_t>(entry.to);
    for (size_t i = 0; i < 8; ++i) to[6 + i] = static_cast<unsigned char>(address >> (8 * i));
    return !sys::failed(sys::mprotect(first, end - first, PROT_READ | PROT_EXEC));
}

}  // namespace

bool patch_libc(const Patch* patches, size_t count, Text* error) {
    if (sys::call(SYS_prctl, kGetMdwe) > 0) {
        error->add("patching libc: the process denies write+execute (PR_SET_MDWE)");
        return false;
    }
    Entry entries[16];
    if (count > 16) __builtin_trap();
    for (size_t i = 0; i < count; ++i)
        if (!find_entry(patches[i], &entries[i], error)) return false;
    for (size_t i = 0; i < count; ++i)
        if (!write_jump(entries[i])) {
            error->add("patching libc function ").add(patches[i].symbol)
                .add(": the system forbids to change code pages (SELinux execmod or the like)");
            return false;
        }
    return true;
}

}  // namespace mosalloc
