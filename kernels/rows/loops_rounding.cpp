#include <catena/kernels/elementwise/rounding.h>

#include <catena/kernels/rows/define_elementwise.h>
#include <catena/kernels/rows/families/rounding.h>

namespace catena::rows {
namespace {

using namespace define;

constexpr const char* kHeader = "catena/kernels/elementwise/rounding.h";

}  // namespace

constexpr KernelDef rint = elementwise<k::rint, Floats1>("rint", kHeader);
constexpr KernelDef floor = elementwise<k::floor, Floats1>("floor", kHeader);
constexpr KernelDef ceil = elementwise<k::ceil, Floats1>("ceil", kHeader);
constexpr KernelDef trunc = elementwise<k::trunc, Floats1>("trunc", kHeader);
constexpr KernelDef fix = elementwise<k::fix, Floats1>("fix", kHeader);

}  // namespace catena::rows
