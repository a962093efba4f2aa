#include "kernels/elementwise/bitwise.h"

#include "kernels/host/define.h"
#include "kernels/host/families.h"

namespace catena::define {
namespace {

constexpr const char* kHeader = "kernels/elementwise/bitwise.h";

using BoolsAndInts2 = join_loops<Bool2, Ints2>::type;

constexpr KernelDef kTable[] = {
    elementwise<k::bitwise_and, BoolsAndInts2>("bitwise_and", kHeader),
    elementwise<k::bitwise_or, BoolsAndInts2>("bitwise_or", kHeader),
    elementwise<k::bitwise_xor, BoolsAndInts2>("bitwise_xor", kHeader),
    elementwise<k::invert, join_loops<Bool1, Ints1>::type>("invert", kHeader),
    elementwise<k::left_shift, Ints2>("left_shift", kHeader),
    elementwise<k::right_shift, Ints2>("right_shift", kHeader),
};

}  // namespace

std::span<const KernelDef> bitwise_kernels() { return kTable; }

}  // namespace catena::define
