// SPDX-License-Identifier: GPL-2.0-only
#include "keep_arrays.h"

#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>

#include "tessera/common/error.h"

namespace tessera::tracer {
namespace {

/// As g_array_free(array, free_segment); its result is used only if the segment is to be kept.
char* keep(void*, int) { return nullptr; }

struct Dynamic {
    const Elf64_Rela* relocations = nullptr;
    size_t relocation_bytes = 0;
    const Elf64_Rela* jumps = nullptr;
    size_t jump_bytes = 0;
    const Elf64_Sym* symbols = nullptr;
    const char* names = nullptr;
};

// glibc has replaced the offsets in the main program's dynamic section by addresses.
Dynamic dynamic_of(const Elf64_Dyn* entry) {
    Dynamic out;
    for (; entry->d_tag != DT_NULL; ++entry) {
        const auto address = entry->d_un.d_ptr;
        if (entry->d_tag == DT_RELA) out.relocations = reinterpret_cast<const Elf64_Rela*>(address);
        if (entry->d_tag == DT_RELASZ) out.relocation_bytes = entry->d_un.d_val;
        if (entry->d_tag == DT_JMPREL) out.jumps = reinterpret_cast<const Elf64_Rela*>(address);
        if (entry->d_tag == DT_PLTRELSZ) out.jump_bytes = entry->d_un.d_val;
        if (entry->d_tag == DT_SYMTAB) out.symbols = reinterpret_cast<const Elf64_Sym*>(address);
        if (entry->d_tag == DT_STRTAB) out.names = reinterpret_cast<const char*>(address);
    }
    return out;
}

size_t redirect(const Dynamic& dynamic, uint64_t base, const Elf64_Rela* first, size_t bytes) {
    size_t count = 0;
    for (size_t i = 0; first && i < bytes / sizeof *first; ++i) {
        const auto type = ELF64_R_TYPE(first[i].r_info);
        if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT) continue;
        if (std::strcmp(dynamic.names + dynamic.symbols[ELF64_R_SYM(first[i].r_info)].st_name, "g_array_free") != 0) continue;
        auto* const slot = reinterpret_cast<void**>(base + first[i].r_offset);
        const uint64_t page_bytes = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
        auto* const page = reinterpret_cast<void*>(reinterpret_cast<uint64_t>(slot) & ~(page_bytes - 1));
        // It stays writable: without full RELRO other slots of this page are still to be bound.
        if (mprotect(page, page_bytes, PROT_READ | PROT_WRITE) != 0) continue;
        *slot = reinterpret_cast<void*>(keep);
        ++count;
    }
    return count;
}

int visit(dl_phdr_info* info, size_t, void* found) {
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        if (info->dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
        const Dynamic dynamic = dynamic_of(reinterpret_cast<const Elf64_Dyn*>(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr));
        *static_cast<size_t*>(found) = redirect(dynamic, info->dlpi_addr, dynamic.relocations, dynamic.relocation_bytes) +
                                       redirect(dynamic, info->dlpi_addr, dynamic.jumps, dynamic.jump_bytes);
    }
    return 1;  // the first object is the main program; no other
}

}  // namespace

void keep_arrays() {
    size_t found = 0;
    dl_iterate_phdr(visit, &found);
    if (found == 0)
        throw Error("this QEMU", "it does not call g_array_free to free its lists of callbacks", "use the QEMU 7.2 of the toolchain image");
}

}  // namespace tessera::tracer
