#include <catena/kernels/elementwise/rounding.h>

#include <catena/kernels/registry/define_elementwise.h>

namespace catena::kernels {
namespace {

using namespace define;

constexpr const char* kHeader = "catena/kernels/elementwise/rounding.h";

}  // namespace

CATENA_DEFINE_KERNEL rint = elementwise<k::rint, and_complex<Floats1, Complex1>>("rint", kHeader);
CATENA_DEFINE_KERNEL floor = elementwise<k::floor, All1, by_bits>("floor", kHeader);
CATENA_DEFINE_KERNEL ceil = elementwise<k::ceil, All1, by_bits>("ceil", kHeader);
CATENA_DEFINE_KERNEL trunc = elementwise<k::trunc, All1, by_bits>("trunc", kHeader);
CATENA_DEFINE_KERNEL fix = elementwise<k::fix, All1, by_bits>("fix", kHeader);

}  // namespace catena::kernels
