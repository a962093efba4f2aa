#include <catena/kernels/elementwise/bitwise.h>

#include <catena/kernels/registry/define_elementwise.h>
#include <catena/kernels/registry/families/bitwise.h>

namespace catena::kernels {
namespace {

using namespace define;

constexpr const char* kHeader = "catena/kernels/elementwise/bitwise.h";

using BoolsAndInts2 = join_loops<Bool2, Ints2>::type;

}  // namespace

constexpr KernelDef bitwise_and = elementwise<k::bitwise_and, BoolsAndInts2, by_bits>("bitwise_and", kHeader);
constexpr KernelDef bitwise_or = elementwise<k::bitwise_or, BoolsAndInts2, by_bits>("bitwise_or", kHeader);
constexpr KernelDef bitwise_xor = elementwise<k::bitwise_xor, BoolsAndInts2, by_bits>("bitwise_xor", kHeader);
constexpr KernelDef invert = elementwise<k::invert, join_loops<Bool1, Ints1>::type, by_width>("invert", kHeader);
constexpr KernelDef left_shift = elementwise<k::left_shift, Ints2, by_width>("left_shift", kHeader);
constexpr KernelDef right_shift = elementwise<k::right_shift, Ints2, widened>("right_shift", kHeader);

}  // namespace catena::kernels
