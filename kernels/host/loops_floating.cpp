#include "kernels/elementwise/floating.h"

#include "kernels/host/define.h"
#include "kernels/host/families.h"

namespace catena::define {
namespace {

constexpr const char* kHeader = "kernels/elementwise/floating.h";

using Splits = loops<"e->ee", "E->EE", "f->ff", "d->dd">;
using Mantissas = loops<"e->ei", "E->Ei", "f->fi", "d->di">;
using Scalings = loops<"ei->e", "Ei->E", "fi->f", "el->e", "El->E", "fl->f", "di->d", "dl->d">;

constexpr KernelDef kTable[] = {
    elementwise<k::isnan, FloatPredicates1>("isnan", kHeader),
    elementwise<k::isinf, FloatPredicates1>("isinf", kHeader),
    elementwise<k::isfinite, FloatPredicates1>("isfinite", kHeader),
    elementwise<k::signbit, FloatPredicates1>("signbit", kHeader),
    elementwise<k::copysign, Floats2>("copysign", kHeader),
    elementwise<k::modf, Splits>("modf", kHeader),
    elementwise<k::frexp, Mantissas>("frexp", kHeader),
    elementwise<k::ldexp, Scalings>("ldexp", kHeader),
    elementwise<k::nextafter, loops<"ff->f", "dd->d">>("nextafter", kHeader),
    elementwise<k::nextafter_float16, loops<"ee->e">>("nextafter_float16", kHeader),
    elementwise<k::nextafter_bfloat16, loops<"EE->E">>("nextafter_bfloat16", kHeader),
};

}  // namespace

std::span<const KernelDef> floating_kernels() { return kTable; }

}  // namespace catena::define
