// SPDX-License-Identifier: GPL-2.0-only
// plugin.c - hands a machine's instructions and accesses to the stream.
//
//   qemu-system-x86_64 -icount shift=0,sleep=off -smp 1 -plugin libtessera-kernel-stream.so,settings=FILE ...
//
// One processor. The memory must be one block below 3 GB: for more blocks, QEMU 7.2 gives other numbers than physical addresses. The
// plugin checks each address against the kernel's direct map.
#include <inttypes.h>
#include <qemu-plugin.h>
#include <string.h>

#include "error.h"
#include "settings.h"
#include "stream.h"

#define EXPORT __attribute__((visibility("default")))
EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;
EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv);

// Addresses of x86-64 Linux with four levels and no randomisation (Documentation/arch/x86/x86_64/mm.rst).
#define USER_END ((uint64_t)1 << 47)
#define DIRECT_MAP 0xffff888000000000u
#define DIRECT_MAP_END (DIRECT_MAP + ((uint64_t)64 << 40))
// A kernel's address has this bit set: it is free to say that the instruction is a string instruction.
#define STRING_BIT ((uint64_t)1 << 62)

static struct settings settings;
static struct stream stream;

static void on_user(unsigned cpu, void *data) {
    (void)cpu;
    stream_user(&stream, (uint64_t)data);
}

static void on_kernel(unsigned cpu, void *data) {
    (void)cpu;
    const uint64_t coded = (uint64_t)data;
    stream_kernel(&stream, coded | STRING_BIT, !(coded & STRING_BIT));
}

static void on_access(unsigned cpu, qemu_plugin_meminfo_t info, uint64_t address, void *data) {
    (void)cpu;
    (void)data;
    if (!stream.inside && !stream.awaits_touch) return;
    const struct qemu_plugin_hwaddr *found = qemu_plugin_get_hwaddr(info, address);
    if (!found || qemu_plugin_hwaddr_is_io(found)) return;
    const struct access access = {
        .virtual_address = address,
        .physical_address = qemu_plugin_hwaddr_phys_addr(found),
        .bytes = 1u << qemu_plugin_mem_size_shift(info),
        .store = qemu_plugin_mem_is_store(info),
    };
    if (DIRECT_MAP <= address && address < DIRECT_MAP_END && address - DIRECT_MAP != access.physical_address)
        stop("physical addresses", "give the machine one node, and memory below 3 GB only",
             "the direct map has %" PRIx64 " at %" PRIx64 ", QEMU says %" PRIx64, address - DIRECT_MAP, address, access.physical_address);
    stream_access(&stream, &access);
}

/// Whether an instruction is MOVS or STOS with a REP prefix.
static bool is_string(const uint8_t *code, size_t size) {
    bool repeats = false;
    size_t at = 0;
    while (at < size && (code[at] == 0xf3 || code[at] == 0x66)) {
        repeats |= code[at] == 0xf3;
        at++;
    }
    if (at < size && (code[at] & 0xf0) == 0x40) // REX
        at++;
    return repeats && at + 1 == size && (code[at] == 0xa4 || code[at] == 0xa5 || code[at] == 0xaa || code[at] == 0xab);
}

static void on_block(qemu_plugin_id_t id, struct qemu_plugin_tb *block) {
    (void)id;
    const bool user = qemu_plugin_tb_vaddr(block) < USER_END;
    if (user) qemu_plugin_register_vcpu_tb_exec_cb(block, on_user, QEMU_PLUGIN_CB_NO_REGS, (void *)qemu_plugin_tb_vaddr(block));
    for (size_t i = 0; i < qemu_plugin_tb_n_insns(block); i++) {
        struct qemu_plugin_insn *one = qemu_plugin_tb_get_insn(block, i);
        const uint64_t pc = qemu_plugin_insn_vaddr(one);
        if (user && (pc < settings.touch_begin || pc >= settings.touch_end)) continue;
        if (user) {
            qemu_plugin_register_vcpu_insn_exec_cb(one, on_user, QEMU_PLUGIN_CB_NO_REGS, (void *)pc);
        } else {
            const uint64_t coded = is_string(qemu_plugin_insn_data(one), qemu_plugin_insn_size(one)) ? pc & ~STRING_BIT : pc;
            qemu_plugin_register_vcpu_insn_exec_cb(one, on_kernel, QEMU_PLUGIN_CB_NO_REGS, (void *)coded);
        }
        qemu_plugin_register_vcpu_mem_cb(one, on_access, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW, NULL);
    }
}

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv) {
    const char *const remedy = "record with: ./run tessera lab faults stream record";
    if (!info->system_emulation || info->system.max_vcpus != 1)
        stop("a recording of faults", remedy, "it needs a whole machine with one processor");
    if (argc != 1 || strncmp(argv[0], "settings=", 9) != 0) stop("the plugin's arguments", remedy, "they must be settings=FILE");
    settings = settings_read(argv[0] + 9);
    FILE *out = fopen(settings.out, "w");
    if (!out) stop(settings.out, remedy, "it cannot be written");
    static char buffer[1 << 20];
    setvbuf(out, buffer, _IOFBF, sizeof buffer);
    stream_begin(&stream, &settings, out);
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_block);
    return 0;
}
