#include "kernels/elementwise/comparison.h"

#include "kernels/host/define.h"
#include "kernels/host/families.h"

namespace catena::define {
namespace {

constexpr const char* kHeader = "kernels/elementwise/comparison.h";

constexpr KernelDef kTable[] = {
    elementwise<k::equal, Comparisons>("equal", kHeader),
    elementwise<k::not_equal, Comparisons>("not_equal", kHeader),
    elementwise<k::less, Comparisons>("less", kHeader),
    elementwise<k::less_equal, Comparisons>("less_equal", kHeader),
    elementwise<k::greater, Comparisons>("greater", kHeader),
    elementwise<k::greater_equal, Comparisons>("greater_equal", kHeader),
    elementwise<k::maximum, All2>("maximum", kHeader),
    elementwise<k::minimum, All2>("minimum", kHeader),
    elementwise<k::fmax, All2>("fmax", kHeader),
    elementwise<k::fmin, All2>("fmin", kHeader),
};

}  // namespace

std::span<const KernelDef> comparison_kernels() { return kTable; }

}  // namespace catena::define
