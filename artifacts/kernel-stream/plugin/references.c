// SPDX-License-Identifier: GPL-2.0-only
// references.c - counts the loads and stores of a machine between two marks.
//
//   qemu-system-x86_64 -icount shift=0,sleep=off -smp 4 -plugin libtessera-references.so,out=FILE ...
//
// A mark is a NOP that no compiler makes: REFERENCES_BEGIN and REFERENCES_END of artifacts/kernel/experiments/instructions.h.
// Each end adds a line "loads,stores" to the file. All processors count together. An instruction that loads and stores, such
// as XCHG, counts as both; a repeated string instruction counts for each element.
#include <inttypes.h>
#include <qemu-plugin.h>
#include <stdio.h>
#include <string.h>

#include "error.h"

#define EXPORT __attribute__((visibility("default")))
EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;
EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv);

static const uint8_t mark[] = {0x0f, 0x1f, 0x80, 'R', 'E', 'F'};

static uint64_t loads, stores, first_loads, first_stores;
static FILE *out;

static void on_begin(unsigned cpu, void *data) {
    (void)cpu;
    (void)data;
    first_loads = loads;
    first_stores = stores;
}

static void on_end(unsigned cpu, void *data) {
    (void)cpu;
    (void)data;
    fprintf(out, "%" PRIu64 ",%" PRIu64 "\n", loads - first_loads, stores - first_stores);
    fflush(out);
}

// Not the inline counters of QEMU 7.2, which take loads for stores.
static void on_access(unsigned cpu, qemu_plugin_meminfo_t info, uint64_t address, void *data) {
    (void)cpu;
    (void)address;
    (void)data;
    *(qemu_plugin_mem_is_store(info) ? &stores : &loads) += 1;
}

static void on_block(qemu_plugin_id_t id, struct qemu_plugin_tb *block) {
    (void)id;
    for (size_t i = 0; i < qemu_plugin_tb_n_insns(block); i++) {
        struct qemu_plugin_insn *one = qemu_plugin_tb_get_insn(block, i);
        const uint8_t *code = qemu_plugin_insn_data(one);
        qemu_plugin_register_vcpu_mem_cb(one, on_access, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW, NULL);
        if (qemu_plugin_insn_size(one) == sizeof mark + 1 && memcmp(code, mark, sizeof mark) == 0)
            qemu_plugin_register_vcpu_insn_exec_cb(one, code[sizeof mark] == 'B' ? on_begin : on_end, QEMU_PLUGIN_CB_NO_REGS, NULL);
    }
}

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv) {
    const char *const remedy = "count with: ./run tessera lab run kernel-costs";
    if (!info->system_emulation) stop("a count of references", remedy, "it needs a whole machine");
    if (argc != 1 || strncmp(argv[0], "out=", 4) != 0) stop("the plugin's arguments", remedy, "they must be out=FILE");
    out = fopen(argv[0] + 4, "w");
    if (!out) stop(argv[0] + 4, remedy, "it cannot be written");
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_block);
    return 0;
}
