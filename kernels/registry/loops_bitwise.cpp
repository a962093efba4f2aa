#include <catena/kernels/elementwise/bitwise.h>

#include <catena/kernels/registry/define_elementwise.h>

namespace catena::kernels {
namespace {

using namespace define;

constexpr const char* kHeader = "catena/kernels/elementwise/bitwise.h";

using BoolsAndInts2 = join_loops<Bool2, Ints2>::type;
using Counts = loops<"b->B", "B->B", "h->B", "H->B", "i->B", "I->B", "l->B", "L->B">;

}  // namespace

CATENA_DEFINE_KERNEL bitwise_and = elementwise<k::bitwise_and, BoolsAndInts2, by_bits>("bitwise_and", kHeader);
CATENA_DEFINE_KERNEL bitwise_or = elementwise<k::bitwise_or, BoolsAndInts2, by_bits>("bitwise_or", kHeader);
CATENA_DEFINE_KERNEL bitwise_xor = elementwise<k::bitwise_xor, BoolsAndInts2, by_bits>("bitwise_xor", kHeader);
CATENA_DEFINE_KERNEL invert = elementwise<k::invert, join_loops<Bool1, Ints1>::type, by_width>("invert", kHeader);
CATENA_DEFINE_KERNEL bitwise_count =
    elementwise<k::bitwise_count, Counts, predicate<widened>>("bitwise_count", kHeader);
CATENA_DEFINE_KERNEL left_shift = elementwise<k::left_shift, Ints2, by_width>("left_shift", kHeader);
CATENA_DEFINE_KERNEL right_shift = elementwise<k::right_shift, Ints2, widened>("right_shift", kHeader);

}  // namespace catena::kernels
