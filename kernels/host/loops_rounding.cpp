#include "kernels/elementwise/rounding.h"

#include "kernels/host/define.h"
#include "kernels/host/families.h"

namespace catena::define {
namespace {

constexpr const char* kHeader = "kernels/elementwise/rounding.h";

constexpr KernelDef kTable[] = {
    elementwise<k::rint, Floats1>("rint", kHeader),
    elementwise<k::floor, Floats1>("floor", kHeader),
    elementwise<k::ceil, Floats1>("ceil", kHeader),
    elementwise<k::trunc, Floats1>("trunc", kHeader),
    elementwise<k::fix, Floats1>("fix", kHeader),
};

}  // namespace

std::span<const KernelDef> rounding_kernels() { return kTable; }

}  // namespace catena::define
