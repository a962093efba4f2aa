#include <catena/kernels/reduction/extremum.h>

#include <catena/kernels/registry/define_reduction.h>

namespace catena::kernels {
namespace {

using namespace define;

constexpr const char* kHeader = "catena/kernels/reduction/extremum.h";

// Loops of a reduction that skips NaN. Types without NaN use the loops of the reduction `Whole`.
template <class Body, class Whole, class L> struct SkippingLoops;
template <class Body, class Whole, fixed_string... S> struct SkippingLoops<Body, Whole, loops<S...>> {
  template <fixed_string T> using body = std::conditional_t<is_floating(signature_of<T>.type[0]), Body, Whole>;
  static constexpr Loop table[] = {
      {.type = signature_of<S>.type, .reduction = &ReductionTable<body<S>, S, widened_but_int16, true>::table}...};
};
template <class Body, class Whole> constexpr KernelDef skipping(const char* name) {
  constexpr const Loop* table = SkippingLoops<Body, Whole, All1>::table;
  return make_row(name, kHeader, KernelKind::reduction, table, All1{}).with(may_scan);
}

}  // namespace

CATENA_DEFINE_KERNEL amax = reduction<k::amax, All1, widened_but_int16, may_scan>("amax", kHeader);
CATENA_DEFINE_KERNEL amin = reduction<k::amin, All1, widened_but_int16, may_scan>("amin", kHeader);
CATENA_DEFINE_KERNEL nanmax = skipping<k::nanmax, k::amax>("nanmax");
CATENA_DEFINE_KERNEL nanmin = skipping<k::nanmin, k::amin>("nanmin");

}  // namespace catena::kernels
