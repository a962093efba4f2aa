#include <catena/kernels/reduction/sum.h>

#include <catena/kernels/rows/define_reduction.h>
#include <catena/kernels/rows/families/sum.h>

namespace catena::rows {
namespace {

using namespace define;

constexpr const char* kHeader = "catena/kernels/reduction/sum.h";

// Small integers widen to 64 bits; float16 accumulates in float32.
using Sums =
    loops<"?->l", "b->l", "B->L", "h->l", "H->L", "i->l", "I->L", "l->l", "L->L", "e->e", "E->E", "f->f", "d->d">;
using Means =
    loops<"?->d", "b->d", "B->d", "h->d", "H->d", "i->d", "I->d", "l->d", "L->d", "e->e", "E->E", "f->f", "d->d">;

}  // namespace

constexpr KernelDef sum = reduction<k::sum, Sums, as_int64, may_scan>("sum", kHeader, true);
constexpr KernelDef prod = reduction<k::prod, Sums, as_int64, may_scan>("prod", kHeader, true);
constexpr KernelDef mean = reduction<k::mean, Means, as_float64>("mean", kHeader, false);
constexpr KernelDef sum_squares = reduction<k::sum_squares, Sums, as_int64>("sum_squares", kHeader, true);

}  // namespace catena::rows
