// no_qemu.cpp - QEMU's part of the plugin interface, for tests that run callbacks without QEMU and need none of it.
#include <cstdlib>

#define NOT_CALLED(name) \
    extern "C" void name() { std::abort(); }
NOT_CALLED(qemu_plugin_end_code)
NOT_CALLED(qemu_plugin_insn_data)
NOT_CALLED(qemu_plugin_insn_size)
NOT_CALLED(qemu_plugin_insn_vaddr)
NOT_CALLED(qemu_plugin_mem_is_store)
NOT_CALLED(qemu_plugin_mem_size_shift)
NOT_CALLED(qemu_plugin_path_to_binary)
NOT_CALLED(qemu_plugin_register_atexit_cb)
NOT_CALLED(qemu_plugin_register_vcpu_init_cb)
NOT_CALLED(qemu_plugin_register_vcpu_insn_exec_cb)
NOT_CALLED(qemu_plugin_register_vcpu_mem_cb)
NOT_CALLED(qemu_plugin_register_vcpu_syscall_cb)
NOT_CALLED(qemu_plugin_register_vcpu_syscall_ret_cb)
NOT_CALLED(qemu_plugin_register_vcpu_tb_exec_cb)
NOT_CALLED(qemu_plugin_register_vcpu_tb_exec_inline)
NOT_CALLED(qemu_plugin_register_vcpu_tb_trans_cb)
NOT_CALLED(qemu_plugin_reset)
NOT_CALLED(qemu_plugin_start_code)
NOT_CALLED(qemu_plugin_tb_get_insn)
NOT_CALLED(qemu_plugin_tb_n_insns)
NOT_CALLED(qemu_plugin_tb_vaddr)
