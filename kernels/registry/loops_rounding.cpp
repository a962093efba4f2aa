#include <catena/kernels/elementwise/rounding.h>

#include <catena/kernels/registry/define_elementwise.h>
#include <catena/kernels/registry/families/rounding.h>

namespace catena::kernels {
namespace {

using namespace define;

constexpr const char* kHeader = "catena/kernels/elementwise/rounding.h";

}  // namespace

constexpr KernelDef rint = elementwise<k::rint, Floats1>("rint", kHeader);
constexpr KernelDef floor = elementwise<k::floor, All1, by_bits>("floor", kHeader);
constexpr KernelDef ceil = elementwise<k::ceil, All1, by_bits>("ceil", kHeader);
constexpr KernelDef trunc = elementwise<k::trunc, All1, by_bits>("trunc", kHeader);
constexpr KernelDef fix = elementwise<k::fix, All1, by_bits>("fix", kHeader);

}  // namespace catena::kernels
