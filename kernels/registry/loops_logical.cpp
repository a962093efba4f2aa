#include <catena/kernels/reduction/logical.h>

#include <catena/kernels/registry/define_reduction.h>

namespace catena::kernels {
namespace {

using namespace define;

constexpr const char* kHeader = "catena/kernels/reduction/logical.h";

using Counts = loops<"?->l", "b->l", "B->l", "h->l", "H->l", "i->l", "I->l", "l->l", "L->l", "e->l", "E->l", "f->l",
                     "d->l", "F->l", "D->l">;
using Tests = and_complex<Predicates1, loops<"F->?", "D->?">>;

// Whether an integer is 0 does not depend on its sign. 16-bit and complex numbers are rare, so they are converted to
// bool.
constexpr char nonzero(char type, bool output) {
  if (output) return type;
  return std::string_view("hHFD").find(type) != std::string_view::npos ? '?' : by_bits(type, false);
}

}  // namespace

CATENA_DEFINE_KERNEL all = reduction<k::all, Tests, nonzero>("all", kHeader).with_identity();
CATENA_DEFINE_KERNEL any = reduction<k::any, Tests, nonzero>("any", kHeader).with_identity();
CATENA_DEFINE_KERNEL count_nonzero =
    reduction<k::count_nonzero, Counts, nonzero>("count_nonzero", kHeader).with_identity();

}  // namespace catena::kernels
