#include <catena/kernels/elementwise/trigonometric.h>

#include <catena/kernels/registry/define_elementwise.h>

namespace catena::kernels {
namespace {

using namespace define;

constexpr const char* kHeader = "catena/kernels/elementwise/trigonometric.h";

}  // namespace

CATENA_DEFINE_KERNEL sin = transcendental<k::sin, and_complex<Floats1, Complex1>>("sin", kHeader);
CATENA_DEFINE_KERNEL cos = transcendental<k::cos, and_complex<Floats1, Complex1>>("cos", kHeader);
CATENA_DEFINE_KERNEL tan = transcendental<k::tan, and_complex<Floats1, Complex1>>("tan", kHeader);
CATENA_DEFINE_KERNEL arcsin = transcendental<k::arcsin, and_complex<Floats1, Complex1>>("arcsin", kHeader);
CATENA_DEFINE_KERNEL arccos = transcendental<k::arccos, and_complex<Floats1, Complex1>>("arccos", kHeader);
CATENA_DEFINE_KERNEL arctan = transcendental<k::arctan, and_complex<Floats1, Complex1>>("arctan", kHeader);
CATENA_DEFINE_KERNEL arctan2 = transcendental<k::arctan2, Floats2>("arctan2", kHeader);
CATENA_DEFINE_KERNEL hypot = elementwise<k::hypot, Floats2>("hypot", kHeader);
CATENA_DEFINE_KERNEL deg2rad = elementwise<k::deg2rad, Floats1>("deg2rad", kHeader);
CATENA_DEFINE_KERNEL rad2deg = elementwise<k::rad2deg, Floats1>("rad2deg", kHeader);

}  // namespace catena::kernels
