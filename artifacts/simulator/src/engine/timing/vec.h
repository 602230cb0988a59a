// vec.h - a time in each of width x parts layouts, and a mask over them. One instruction of the replay does all layouts of a pass, so
// that decoding, queue positions and branches are paid for once.
#pragma once

#include "engine/timing/part.h"

namespace tessera::sim::timing::TESSERA_ISA {

template <unsigned parts>
struct Vec {
    Part part[parts];
};

template <unsigned parts>
struct Mask {
    PartMask part[parts];
};

#define CLOCK_EACH_PART _Pragma("GCC unroll 4") for (unsigned k = 0; k < parts; ++k)
#define CLOCK_PARTWISE(name, expression)                                     \
    template <unsigned parts>                                                \
    CLOCK_INLINE Vec<parts> name(const Vec<parts>& a, const Vec<parts>& b) { \
        Vec<parts> r;                                                        \
        CLOCK_EACH_PART {                                                    \
            const Part x = a.part[k], y = b.part[k];                         \
            r.part[k] = expression;                                          \
        }                                                                    \
        return r;                                                            \
    }

CLOCK_PARTWISE(operator+, x + y)
CLOCK_PARTWISE(operator-, x - y)
CLOCK_PARTWISE(operator|, x | y)
CLOCK_PARTWISE(max, max(x, y))
CLOCK_PARTWISE(min, min(x, y))

#undef CLOCK_PARTWISE

template <unsigned parts>
CLOCK_INLINE Mask<parts> eq(const Vec<parts>& a, const Vec<parts>& b) {
    Mask<parts> r;
    CLOCK_EACH_PART r.part[k] = eq(a.part[k], b.part[k]);
    return r;
}

template <unsigned parts>
CLOCK_INLINE Mask<parts> operator&(const Mask<parts>& a, const Mask<parts>& b) {
    Mask<parts> r;
    CLOCK_EACH_PART r.part[k] = a.part[k] & b.part[k];
    return r;
}

template <unsigned parts>
CLOCK_INLINE Mask<parts> without(const Mask<parts>& a, const Mask<parts>& b) {
    Mask<parts> r;
    CLOCK_EACH_PART r.part[k] = without(a.part[k], b.part[k]);
    return r;
}

template <unsigned parts>
CLOCK_INLINE bool any(const Mask<parts>& m) {
    bool r = false;
    CLOCK_EACH_PART r |= any(m.part[k]);
    return r;
}

/// a <= b
template <unsigned parts>
CLOCK_INLINE Mask<parts> at_most(const Vec<parts>& a, const Vec<parts>& b) {
    return eq(min(a, b), a);
}

/// a where the mask is set, else b.
template <unsigned parts>
CLOCK_INLINE Vec<parts> select(const Mask<parts>& m, const Vec<parts>& a, const Vec<parts>& b) {
    Vec<parts> r;
    CLOCK_EACH_PART r.part[k] = select(m.part[k], a.part[k], b.part[k]);
    return r;
}

template <unsigned parts>
CLOCK_INLINE Vec<parts> add_if(const Mask<parts>& m, const Vec<parts>& a, const Vec<parts>& b) {
    Vec<parts> r;
    CLOCK_EACH_PART r.part[k] = add_if(m.part[k], a.part[k], b.part[k]);
    return r;
}

template <unsigned parts>
CLOCK_INLINE Vec<parts> broadcast(uint32_t x) {
    Vec<parts> r;
    CLOCK_EACH_PART r.part[k] = part_of(x);
    return r;
}

template <unsigned parts>
CLOCK_INLINE Mask<parts> mask_of(uint64_t lanes) {
    Mask<parts> r;
    CLOCK_EACH_PART r.part[k] = part_mask(uint16_t(lanes >> width * k));
    return r;
}

/// width x parts values in a row.
template <unsigned parts>
CLOCK_INLINE Vec<parts> load_row(const uint32_t* p) {
    Vec<parts> r;
    CLOCK_EACH_PART r.part[k] = load_part(p + width * k);
    return r;
}

template <unsigned parts>
CLOCK_INLINE void store_row(uint32_t* p, const Vec<parts>& a) {
    CLOCK_EACH_PART store_part(p + width * k, a.part[k]);
}

template <unsigned parts>
CLOCK_INLINE Vec<parts> load(const Vec<parts>* p) {
    return load_row<parts>(reinterpret_cast<const uint32_t*>(p));
}

template <unsigned parts>
CLOCK_INLINE void store(Vec<parts>* p, const Vec<parts>& a) {
    store_row(reinterpret_cast<uint32_t*>(p), a);
}

}  // namespace tessera::sim::timing::TESSERA_ISA
