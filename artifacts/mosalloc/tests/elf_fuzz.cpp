// Mutated ELF files and scripts: check_program must return, must stay inside memory (checked by sanitizers), and must
// reject files without a dynamic linker and those that need a sanitizer's runtime. Runs for the seconds given as argument; prints its seed.
#include <cstdio>
#include <cstring>
#include <elf.h>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

#include "run/elf_check.h"
#include "fuzz.h"

using namespace mosalloc::run;

namespace {

constexpr char kRuntime[] = "libasan.so.8";
constexpr char kGlibc[] = "/lib64/ld-linux-x86-64.so.2", kMusl[] = "/lib/ld-musl-x86_64.so.1";

template <class T>
void append(std::string* out, const T& value) {
    out->append(reinterpret_cast<const char*>(&value), sizeof value);
}

/// The file with a section of needed libraries, one of symbols, and their names.
std::string with_sections(std::string out, std::mt19937_64& rng) {
    const std::string names =
        std::string(1, '\0') + (rng() % 2 == 0 ? kRuntime : "libm.so.6") + '\0' + (rng() % 2 == 0 ? "__tsan_init" : "malloc") + '\0';
    Elf64_Dyn needed = {};
    needed.d_tag = DT_NEEDED;
    needed.d_un.d_val = 1;
    Elf64_Sym symbol = {};
    symbol.st_name = static_cast<Elf64_Word>(names.find('\0', 1) + 1);
    symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
    Elf64_Shdr sections[3] = {};
    const auto add = [&](unsigned i, Elf64_Word type, const std::string& bytes) {
        sections[i].sh_type = type;
        sections[i].sh_offset = out.size();
        sections[i].sh_size = bytes.size();
        sections[i].sh_link = 0;
        out += bytes;
    };
    add(0, SHT_STRTAB, names);
    add(1, SHT_DYNAMIC, std::string(reinterpret_cast<const char*>(&needed), sizeof needed));
    add(2, SHT_DYNSYM, std::string(reinterpret_cast<const char*>(&symbol), sizeof symbol));
    Elf64_Ehdr header;
    memcpy(&header, out.data(), sizeof header);
    header.e_shoff = out.size();
    header.e_shnum = 3;
    header.e_shentsize = sizeof(Elf64_Shdr);
    memcpy(out.data(), &header, sizeof header);
    for (const Elf64_Shdr& section : sections) append(&out, section);
    return out;
}

/// The smallest file that the dynamic linker's name can be read from.
std::string program(std::mt19937_64& rng) {
    Elf64_Ehdr header = {};
    memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = rng() % 16 == 0 ? ELFCLASS32 : ELFCLASS64;
    header.e_machine = rng() % 16 == 0 ? EM_AARCH64 : EM_X86_64;
    header.e_phoff = sizeof header;
    header.e_phentsize = sizeof(Elf64_Phdr);
    header.e_phnum = static_cast<Elf64_Half>(1 + rng() % 4);
    const std::string linker = rng() % 4 == 0 ? kMusl : kGlibc;
    std::string out;
    append(&out, header);
    const unsigned at = static_cast<unsigned>(rng() % (header.e_phnum + 1u));  // in one of five none at all
    for (unsigned i = 0; i < header.e_phnum; ++i) {
        Elf64_Phdr part = {};
        part.p_type = i == at ? PT_INTERP : PT_LOAD;
        part.p_offset = sizeof header + header.e_phnum * sizeof part;
        part.p_filesz = i == at ? linker.size() + 1 : rng() % 100000;
        append(&out, part);
    }
    out += linker + '\0';
    return rng() % 2 == 0 ? out + std::string(rng() % 200, 'x') : with_sections(out, rng);
}

std::string script(std::mt19937_64& rng) {
    static constexpr const char* kLines[] = {"#!/bin/sh\n", "#! /usr/bin/env bash\n", "#!", "#!\n", "#!/usr/bin/env ", "#!   "};
    return kLines[rng() % 6] + std::string(rng() % 600, rng() % 2 == 0 ? 'a' : ' ');
}

/// Numbers at the borders of what fields can hold.
uint64_t border(std::mt19937_64& rng) {
    static constexpr uint64_t kValues[] = {
        0, 1, 63, 64, 4095, 4096, 4097, 0xffff, 0x7fffffff, 0xffffffff, INT64_MAX, uint64_t{1} << 63, UINT64_MAX};
    return kValues[rng() % (sizeof kValues / sizeof *kValues)];
}

std::string random_file(std::mt19937_64& rng) {
    std::string text = rng() % 5 == 0 ? script(rng) : program(rng);
    const size_t mutations = rng() % 3 == 0 ? 0 : rng() % 5;
    for (size_t i = 0; i < mutations && !text.empty(); ++i) {
        const size_t at = rng() % text.size();
        const uint64_t value = border(rng);
        switch (rng() % 4) {
            case 0: text[at] = static_cast<char>(rng()); break;
            case 1: text.resize(at); break;
            case 2: text.replace(at, 0, std::string(rng() % 5000, static_cast<char>(rng()))); break;
            default: {  // a whole field of a header
                const size_t field = at / 8 * 8 % 512, bytes = rng() % 2 == 0 ? 8 : 2;
                if (field + bytes <= text.size()) memcpy(&text[field], &value, bytes);
            }
        }
    }
    return text;
}

const char* broken_rule(const Refusal& refusal, const std::string& text) {
    if (refusal.found.empty() != refusal.remedy.empty()) return "a refusal says what to do";
    if (!refusal.found.empty()) return nullptr;
    if (text.compare(0, SELFMAG, ELFMAG, SELFMAG) != 0) return "what is accepted is an ELF file";
    if (text.size() < sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr)) return "what is accepted has a program header";
    const Elf64_Word interpreter = PT_INTERP;
    const std::string type(reinterpret_cast<const char*>(&interpreter), sizeof interpreter);
    if (text.find(type) == std::string::npos) return "what is accepted names a dynamic linker";
    return nullptr;
}

}  // namespace

int main(int count, char** arguments) {
    tessera::fuzz::Run run("elf_fuzz", count, arguments);
    tessera::fuzz::MemoryFile file;
    uint64_t musl = 0, scripts = 0, sanitized = 0;
    while (run.more()) {
        const std::string text = random_file(run.rng);
        file.write(text);
        const Refusal refusal = check_program(file.path());
        run.refusals += refusal.found.empty() ? 0 : 1;
        musl += refusal.found.find("musl") != std::string::npos ? 1 : 0;
        sanitized += refusal.found.find("Sanitizer") != std::string::npos ? 1 : 0;
        scripts += refusal.found.find("script") != std::string::npos ? 1 : 0;
        run.accepted(text, broken_rule(refusal, text));
    }
    printf("%llu for musl, %llu scripts, %llu with a sanitizer\n", static_cast<unsigned long long>(musl),
           static_cast<unsigned long long>(scripts), static_cast<unsigned long long>(sanitized));
    return run.finish() != 0 || musl == 0 || scripts == 0 || sanitized == 0;  // a fuzzer must see all of them
}
