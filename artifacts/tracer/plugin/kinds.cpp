// SPDX-License-Identifier: GPL-2.0-only
#include "kinds.h"

#include <algorithm>
#include <initializer_list>

namespace tessera::tracer {
namespace {

using trace::InsnKind;
using Names = std::initializer_list<std::string_view>;

bool starts_with_any(std::string_view name, Names prefixes) {
    return std::any_of(prefixes.begin(), prefixes.end(), [&](std::string_view p) { return name.starts_with(p); });
}

bool is_one_of(std::string_view name, Names names) { return std::find(names.begin(), names.end(), name) != names.end(); }

bool has_float_suffix(std::string_view name) {
    return name.ends_with("ss") || name.ends_with("sd") || name.ends_with("ps") || name.ends_with("pd");
}

}  // namespace

InsnKind kind_of_mnemonic(std::string_view name) {
    if (name.starts_with("nop") || name == "endbr64" || name.starts_with("prefetch")) return InsnKind::nop;
    if (is_one_of(name, {"syscall", "cpuid", "rdtsc", "rdtscp", "xgetbv", "mfence", "lfence", "sfence", "pause", "hlt", "ud2"}) ||
        starts_with_any(name, {"xsave", "xrstor", "fxsave", "fxrstor"}))
        return InsnKind::other;
    if (is_one_of(name, {"mul", "imul", "mulx"})) return InsnKind::multiply;
    if (is_one_of(name, {"div", "idiv"})) return InsnKind::divide;

    if (name.size() > 3 && name.front() == 'v') name.remove_prefix(1);  // the AVX form of an SSE name
    if (starts_with_any(name, {"pmul", "pmadd"})) return InsnKind::multiply;
    if (has_float_suffix(name)) {
        if (starts_with_any(name, {"mul", "fmadd", "fmsub", "fnmadd", "fnmsub", "dp"})) return InsnKind::fp_multiply;
        if (starts_with_any(name, {"div", "sqrt"})) return InsnKind::fp_divide;
        if (starts_with_any(name, {"add", "sub", "hadd", "hsub", "min", "max", "comi", "ucomi", "round", "cvt"})) return InsnKind::fp_add;
        // The string instruction cmpsd takes the disassembler's other spelling ("cmpsd dword ptr"): see decode.cpp.
        if (name.starts_with("cmp")) return InsnKind::fp_add;
    }
    if (name.starts_with("cvt")) return InsnKind::fp_add;
    if (is_one_of(name, {"fmul", "fmulp", "fimul"})) return InsnKind::fp_multiply;
    if (starts_with_any(name, {"fdiv", "fidiv", "fsqrt"})) return InsnKind::fp_divide;
    if (starts_with_any(name, {"fadd", "fsub", "fiadd", "fisub", "fcom", "fucom"})) return InsnKind::fp_add;
    return InsnKind::alu;
}

bool is_move(std::string_view name) {
    if (name.starts_with("pop")) return name != "popcnt";
    if (name.size() > 3 && name.front() == 'v') name.remove_prefix(1);
    if (starts_with_any(name, {"movhp", "movlp"})) return false;  // they merge what they load with half of a register
    return starts_with_any(name, {"mov", "push", "ret", "broadcast", "pbroadcast", "maskmov", "pmaskmov", "fst", "gather", "pgather"}) ||
           is_one_of(name, {"leave", "lddqu", "fld"});
}

}  // namespace tessera::tracer
