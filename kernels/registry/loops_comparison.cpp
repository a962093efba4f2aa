#include <catena/kernels/elementwise/comparison.h>

#include <catena/kernels/registry/define_elementwise.h>

namespace catena::kernels {
namespace {

using namespace define;

constexpr const char* kHeader = "catena/kernels/elementwise/comparison.h";

using AllComparisons = and_complex<Comparisons, loops<"FF->?", "DD->?">>;
using Extrema = and_complex<All2, Complex2>;

constexpr Sharing bits = predicate<by_bits>, ordered = predicate<widened_but_16_bits>;

}  // namespace

CATENA_DEFINE_KERNEL equal = elementwise<k::equal, AllComparisons, bits>("equal", kHeader).with(takes_any_integer);
CATENA_DEFINE_KERNEL not_equal =
    elementwise<k::not_equal, AllComparisons, bits>("not_equal", kHeader).with(takes_any_integer);
CATENA_DEFINE_KERNEL less = elementwise<k::less, AllComparisons, ordered>("less", kHeader).with(takes_any_integer);
CATENA_DEFINE_KERNEL less_equal =
    elementwise<k::less_equal, AllComparisons, ordered>("less_equal", kHeader).with(takes_any_integer);
CATENA_DEFINE_KERNEL greater = swapped<k::less, AllComparisons, ordered>("greater", kHeader).with(takes_any_integer);
CATENA_DEFINE_KERNEL greater_equal =
    swapped<k::less_equal, AllComparisons, ordered>("greater_equal", kHeader).with(takes_any_integer);
CATENA_DEFINE_KERNEL maximum = elementwise<k::maximum, Extrema, widened_but_16_bits>("maximum", kHeader);
CATENA_DEFINE_KERNEL minimum = elementwise<k::minimum, Extrema, widened_but_16_bits>("minimum", kHeader);
CATENA_DEFINE_KERNEL fmax = elementwise<k::fmax, Extrema, widened_but_16_bits>("fmax", kHeader);
CATENA_DEFINE_KERNEL fmin = elementwise<k::fmin, Extrema, widened_but_16_bits>("fmin", kHeader);

}  // namespace catena::kernels
