#include <catena/kernels/reduction/extremum.h>

#include <catena/kernels/rows/define_reduction.h>
#include <catena/kernels/rows/families/extremum.h>

namespace catena::rows {
namespace {

using namespace define;

constexpr const char* kHeader = "catena/kernels/reduction/extremum.h";

// As they are where many elements make one result.
constexpr char unless_int16(char type, bool output) { return type == 'h' ? type : widened_but_8_bits(type, output); }

using Positions =
    loops<"?->l", "b->l", "B->l", "h->l", "H->l", "i->l", "I->l", "l->l", "L->l", "e->l", "E->l", "f->l", "d->l">;

}  // namespace

constexpr KernelDef amax = reduction<k::amax, All1, unless_int16, may_scan>("amax", kHeader, false);
constexpr KernelDef amin = reduction<k::amin, All1, unless_int16, may_scan>("amin", kHeader, false);
constexpr KernelDef argmax = reduction<k::argmax, Positions, unless_int16, may_scan>("argmax", kHeader, false);
constexpr KernelDef argmin = reduction<k::argmin, Positions, unless_int16, may_scan>("argmin", kHeader, false);

}  // namespace catena::rows
