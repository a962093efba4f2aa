#include <catena/kernels/elementwise/trigonometric.h>

#include <catena/kernels/registry/define_elementwise.h>
#include <catena/kernels/registry/families/trigonometric.h>

namespace catena::kernels {
namespace {

using namespace define;

constexpr const char* kHeader = "catena/kernels/elementwise/trigonometric.h";

}  // namespace

constexpr KernelDef sin = transcendental<k::sin, Floats1>("sin", kHeader);
constexpr KernelDef cos = transcendental<k::cos, Floats1>("cos", kHeader);
constexpr KernelDef tan = transcendental<k::tan, Floats1>("tan", kHeader);
constexpr KernelDef arcsin = transcendental<k::arcsin, Floats1>("arcsin", kHeader);
constexpr KernelDef arccos = transcendental<k::arccos, Floats1>("arccos", kHeader);
constexpr KernelDef arctan = transcendental<k::arctan, Floats1>("arctan", kHeader);
constexpr KernelDef arctan2 = transcendental<k::arctan2, Floats2>("arctan2", kHeader);
constexpr KernelDef hypot = elementwise<k::hypot, Floats2>("hypot", kHeader);
constexpr KernelDef deg2rad = elementwise<k::deg2rad, Floats1>("deg2rad", kHeader);
constexpr KernelDef rad2deg = elementwise<k::rad2deg, Floats1>("rad2deg", kHeader);

}  // namespace catena::kernels
