#include <catena/kernels/reduction/logical.h>

#include <catena/kernels/rows/define_reduction.h>
#include <catena/kernels/rows/families/logical.h>

namespace catena::rows {
namespace {

using namespace define;

constexpr const char* kHeader = "catena/kernels/reduction/logical.h";

using Counts =
    loops<"?->l", "b->l", "B->l", "h->l", "H->l", "i->l", "I->l", "l->l", "L->l", "e->l", "E->l", "f->l", "d->l">;

// Whether an integer is 0 does not depend on its sign; 16 bits are rare and are converted to bool.
constexpr char nonzero(char type, bool output) {
  if (output) return type;
  return type == 'h' || type == 'H' ? '?' : by_bits(type, false);
}

}  // namespace

constexpr KernelDef all = reduction<k::all, Predicates1, nonzero>("all", kHeader, true);
constexpr KernelDef any = reduction<k::any, Predicates1, nonzero>("any", kHeader, true);
constexpr KernelDef count_nonzero = reduction<k::count_nonzero, Counts, nonzero>("count_nonzero", kHeader, true);

}  // namespace catena::rows
