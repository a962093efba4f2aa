#include <catena/kernels/elementwise/floating.h>

#include <catena/kernels/registry/define_elementwise.h>

namespace catena::kernels {
namespace {

using namespace define;

constexpr const char* kHeader = "catena/kernels/elementwise/floating.h";

using Classes = and_complex<FloatPredicates1, loops<"F->?", "D->?">>;
using Splits = loops<"e->ee", "E->EE", "f->ff", "d->dd">;
using Mantissas = loops<"e->ei", "E->Ei", "f->fi", "d->di">;
using Scalings = loops<"ei->e", "Ei->E", "fi->f", "el->e", "El->E", "fl->f", "di->d", "dl->d">;

constexpr char wide_exponent(char type, bool) { return type == 'i' ? 'l' : type; }

template <class Body, fixed_string S> constexpr Loop loop_of(const char* body = nullptr) {
  return {.type = signature_of<S>.type, .elementwise = elementwise_loop<Body, S, separate>(), .body = body};
}
constexpr Loop kNeighbours[] = {loop_of<k::nextafter_float16, "ee->e">("nextafter_float16"),
                                loop_of<k::nextafter_bfloat16, "EE->E">("nextafter_bfloat16"),
                                loop_of<k::nextafter, "ff->f">(), loop_of<k::nextafter, "dd->d">()};

}  // namespace

CATENA_DEFINE_KERNEL isnan = elementwise<k::isnan, Classes>("isnan", kHeader);
CATENA_DEFINE_KERNEL isinf = elementwise<k::isinf, Classes>("isinf", kHeader);
CATENA_DEFINE_KERNEL isfinite = elementwise<k::isfinite, Classes>("isfinite", kHeader);
CATENA_DEFINE_KERNEL signbit = elementwise<k::signbit, FloatPredicates1>("signbit", kHeader);
CATENA_DEFINE_KERNEL heaviside = elementwise<k::heaviside, Floats2>("heaviside", kHeader);
CATENA_DEFINE_KERNEL copysign = elementwise<k::copysign, Floats2>("copysign", kHeader);
CATENA_DEFINE_KERNEL modf = elementwise<k::modf, Splits>("modf", kHeader);
CATENA_DEFINE_KERNEL frexp = elementwise<k::frexp, Mantissas>("frexp", kHeader);
CATENA_DEFINE_KERNEL ldexp = elementwise<k::ldexp, Scalings, wide_exponent>("ldexp", kHeader);
CATENA_DEFINE_KERNEL nextafter = make_row("nextafter", kHeader, KernelKind::elementwise, kNeighbours, Floats2{});

}  // namespace catena::kernels
