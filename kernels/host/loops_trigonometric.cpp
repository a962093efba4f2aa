#include "kernels/elementwise/trigonometric.h"

#include "kernels/host/define.h"
#include "kernels/host/families.h"

namespace catena::define {
namespace {

constexpr const char* kHeader = "kernels/elementwise/trigonometric.h";

constexpr KernelDef kTable[] = {
    transcendental<k::sin, Floats1>("sin", kHeader),
    transcendental<k::cos, Floats1>("cos", kHeader),
    transcendental<k::tan, Floats1>("tan", kHeader),
    transcendental<k::arcsin, Floats1>("arcsin", kHeader),
    transcendental<k::arccos, Floats1>("arccos", kHeader),
    transcendental<k::arctan, Floats1>("arctan", kHeader),
    transcendental<k::arctan2, Floats2>("arctan2", kHeader),
    transcendental<k::hypot, Floats2>("hypot", kHeader),
    elementwise<k::deg2rad, Floats1>("deg2rad", kHeader),
    elementwise<k::rad2deg, Floats1>("rad2deg", kHeader),
};

}  // namespace

std::span<const KernelDef> trigonometric_kernels() { return kTable; }

}  // namespace catena::define
