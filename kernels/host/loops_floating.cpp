#include "kernels/elementwise/floating.h"

#include "kernels/host/define.h"
#include "kernels/host/families.h"

namespace catena::define {
namespace {

constexpr const char* kHeader = "kernels/elementwise/floating.h";

constexpr KernelDef kTable[] = {
    elementwise<k::isnan, FloatPredicates1>("isnan", kHeader),
    elementwise<k::isinf, FloatPredicates1>("isinf", kHeader),
    elementwise<k::isfinite, FloatPredicates1>("isfinite", kHeader),
    elementwise<k::signbit, FloatPredicates1>("signbit", kHeader),
    elementwise<k::copysign, Floats2>("copysign", kHeader),
};

}  // namespace

std::span<const KernelDef> floating_kernels() { return kTable; }

}  // namespace catena::define
