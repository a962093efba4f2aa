#include <catena/kernels/reduction/extremum.h>

#include <catena/kernels/registry/define_reduction.h>

namespace catena::kernels {
namespace {

using namespace define;

constexpr const char* kHeader = "catena/kernels/reduction/extremum.h";

// As widened_but_8_bits, with a separate loop for int16.
constexpr char unless_int16(char type, bool output) { return type == 'h' ? type : widened_but_8_bits(type, output); }

using Positions =
    loops<"?->l", "b->l", "B->l", "h->l", "H->l", "i->l", "I->l", "l->l", "L->l", "e->l", "E->l", "f->l", "d->l">;

// Loops of a reduction that skips NaN. Types without NaN use the loops of the reduction `Whole`.
template <class Body, class Whole, class L> struct SkippingLoops;
template <class Body, class Whole, fixed_string... S> struct SkippingLoops<Body, Whole, loops<S...>> {
  template <fixed_string T> using body = std::conditional_t<is_floating(signature_of<T>.type[0]), Body, Whole>;
  static constexpr Loop table[] = {
      {.type = signature_of<S>.type, .reduction = &ReductionTable<body<S>, S, unless_int16, true>::table}...};
};
template <class Body, class Whole> constexpr KernelDef skipping(const char* name) {
  constexpr const Loop* table = SkippingLoops<Body, Whole, All1>::table;
  return make_row(name, kHeader, KernelKind::reduction, table, All1{}).with(may_scan);
}

}  // namespace

CATENA_DEFINE_KERNEL amax = reduction<k::amax, All1, unless_int16, may_scan>("amax", kHeader);
CATENA_DEFINE_KERNEL amin = reduction<k::amin, All1, unless_int16, may_scan>("amin", kHeader);
CATENA_DEFINE_KERNEL nanmax = skipping<k::nanmax, k::amax>("nanmax");
CATENA_DEFINE_KERNEL nanmin = skipping<k::nanmin, k::amin>("nanmin");
CATENA_DEFINE_KERNEL argmax = reduction<k::argmax, Positions, unless_int16, may_scan>("argmax", kHeader);
CATENA_DEFINE_KERNEL argmin = reduction<k::argmin, Positions, unless_int16, may_scan>("argmin", kHeader);

}  // namespace catena::kernels
