#include <catena/kernels/elementwise/comparison.h>

#include <catena/kernels/rows/define.h>
#include <catena/kernels/rows/families/comparison.h>

namespace catena::rows {
namespace {

using namespace define;

constexpr const char* kHeader = "catena/kernels/elementwise/comparison.h";

}  // namespace

constexpr KernelDef equal = elementwise<k::equal, Comparisons>("equal", kHeader);
constexpr KernelDef not_equal = elementwise<k::not_equal, Comparisons>("not_equal", kHeader);
constexpr KernelDef less = elementwise<k::less, Comparisons>("less", kHeader);
constexpr KernelDef less_equal = elementwise<k::less_equal, Comparisons>("less_equal", kHeader);
constexpr KernelDef greater = elementwise<k::greater, Comparisons>("greater", kHeader);
constexpr KernelDef greater_equal = elementwise<k::greater_equal, Comparisons>("greater_equal", kHeader);
constexpr KernelDef maximum = elementwise<k::maximum, All2>("maximum", kHeader);
constexpr KernelDef minimum = elementwise<k::minimum, All2>("minimum", kHeader);
constexpr KernelDef fmax = elementwise<k::fmax, All2>("fmax", kHeader);
constexpr KernelDef fmin = elementwise<k::fmin, All2>("fmin", kHeader);

}  // namespace catena::rows
