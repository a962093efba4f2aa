#include <catena/kernels/elementwise/floating.h>

#include <catena/kernels/registry/define_elementwise.h>
#include <catena/kernels/registry/families/floating.h>

namespace catena::kernels {
namespace {

using namespace define;

constexpr const char* kHeader = "catena/kernels/elementwise/floating.h";

using Classes = and_complex<FloatPredicates1, loops<"F->?", "D->?">>;
using Splits = loops<"e->ee", "E->EE", "f->ff", "d->dd">;
using Mantissas = loops<"e->ei", "E->Ei", "f->fi", "d->di">;
using Scalings = loops<"ei->e", "Ei->E", "fi->f", "el->e", "El->E", "fl->f", "di->d", "dl->d">;

constexpr char wide_exponent(char type, bool) { return type == 'i' ? 'l' : type; }

}  // namespace

constexpr KernelDef isnan = elementwise<k::isnan, Classes>("isnan", kHeader);
constexpr KernelDef isinf = elementwise<k::isinf, Classes>("isinf", kHeader);
constexpr KernelDef isfinite = elementwise<k::isfinite, Classes>("isfinite", kHeader);
constexpr KernelDef signbit = elementwise<k::signbit, FloatPredicates1>("signbit", kHeader);
constexpr KernelDef copysign = elementwise<k::copysign, Floats2>("copysign", kHeader);
constexpr KernelDef modf = elementwise<k::modf, Splits>("modf", kHeader);
constexpr KernelDef frexp = elementwise<k::frexp, Mantissas>("frexp", kHeader);
constexpr KernelDef ldexp = elementwise<k::ldexp, Scalings, wide_exponent>("ldexp", kHeader);
constexpr KernelDef nextafter = elementwise<k::nextafter, loops<"ff->f", "dd->d">>("nextafter", kHeader);
constexpr KernelDef nextafter_float16 = elementwise<k::nextafter_float16, loops<"ee->e">>("nextafter_float16", kHeader);
constexpr KernelDef nextafter_bfloat16 =
    elementwise<k::nextafter_bfloat16, loops<"EE->E">>("nextafter_bfloat16", kHeader);

}  // namespace catena::kernels
