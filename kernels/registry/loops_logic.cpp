#include <catena/kernels/elementwise/logic.h>

#include <catena/kernels/registry/define_elementwise.h>

namespace catena::kernels {
namespace {

using namespace define;

constexpr const char* kHeader = "catena/kernels/elementwise/logic.h";

using Truths1 = and_complex<Predicates1, loops<"F->?", "D->?">>;
using Truths2 = and_complex<Predicates2, loops<"FF->?", "DD->?">>;
using Selections = loops<"???->?", "?bb->b", "?BB->B", "?hh->h", "?HH->H", "?ii->i", "?II->I", "?ll->l", "?LL->L",
                         "?ee->e", "?EE->E", "?ff->f", "?dd->d", "?FF->F", "?DD->D">;

}  // namespace

CATENA_DEFINE_KERNEL logical_and =
    elementwise<k::logical_and, Truths2, predicate<by_bits>>("logical_and", kHeader).with(takes_any_integer);
CATENA_DEFINE_KERNEL logical_or =
    elementwise<k::logical_or, Truths2, predicate<by_bits>>("logical_or", kHeader).with(takes_any_integer);
CATENA_DEFINE_KERNEL logical_xor =
    elementwise<k::logical_xor, Truths2, predicate<by_bits>>("logical_xor", kHeader).with(takes_any_integer);
CATENA_DEFINE_KERNEL logical_not = elementwise<k::logical_not, Truths1, predicate<by_bits>>("logical_not", kHeader);
CATENA_DEFINE_KERNEL where = elementwise<k::where, Selections, as_bits>("where", kHeader);

}  // namespace catena::kernels
