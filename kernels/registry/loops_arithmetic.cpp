#include <catena/kernels/elementwise/arithmetic.h>

#include <catena/kernels/registry/define_elementwise.h>

namespace catena::kernels {
namespace {

using namespace define;

constexpr const char* kHeader = "catena/kernels/elementwise/arithmetic.h";

// Integers give float64; bools are converted to int8.
using Quotients =
    join_loops<loops<"bb->d", "BB->d", "hh->d", "HH->d", "ii->d", "II->d", "ll->d", "LL->d">, Floats2>::type;
using Clips =
    join_loops<loops<"???->?", "bbb->b", "BBB->B", "hhh->h", "HHH->H", "iii->i", "III->I", "lll->l", "LLL->L">,
               Floats3>::type;

// Integers are divided as float64. int32 and int64 are read as they are and converted in vectors.
constexpr char divided(char type, bool output) {
  if (output || !is_bool_or_integer(type)) return type;
  return type == 'L' ? 'd' : (type == 'I' || type == 'l' ? 'l' : 'i');
}

}  // namespace

CATENA_DEFINE_KERNEL add = elementwise<k::add, and_complex<All2, Complex2>, by_width>("add", kHeader);
CATENA_DEFINE_KERNEL subtract =
    elementwise<k::subtract, and_complex<Numbers2, Complex2>, by_width>("subtract", kHeader).with(refuses_bool);
CATENA_DEFINE_KERNEL multiply = elementwise<k::multiply, and_complex<All2, Complex2>, by_width>("multiply", kHeader);
CATENA_DEFINE_KERNEL true_divide =
    elementwise<k::true_divide, and_complex<Quotients, Complex2>, divided>("true_divide", kHeader)
        .with(takes_any_integer);
CATENA_DEFINE_KERNEL negative =
    elementwise<k::negative, and_complex<Numbers1, Complex1>, by_width>("negative", kHeader).with(refuses_bool);
CATENA_DEFINE_KERNEL absolute =
    elementwise<k::absolute, and_complex<All1, Moduli>, widened_but_8_bits>("absolute", kHeader);
CATENA_DEFINE_KERNEL conjugate =
    elementwise<k::conjugate, and_complex<Numbers1, Complex1>, by_width>("conjugate", kHeader);
CATENA_DEFINE_KERNEL reciprocal =
    elementwise<k::reciprocal, and_complex<Numbers1, Complex1>, widened>("reciprocal", kHeader);
CATENA_DEFINE_KERNEL square = elementwise<k::square, and_complex<Numbers1, Complex1>, by_width>("square", kHeader);
CATENA_DEFINE_KERNEL sqrt = elementwise<k::sqrt, and_complex<Floats1, Complex1>>("sqrt", kHeader);
CATENA_DEFINE_KERNEL rsqrt = elementwise<k::rsqrt, and_complex<Floats1, Complex1>>("rsqrt", kHeader);
CATENA_DEFINE_KERNEL sign = elementwise<k::sign, and_complex<Numbers1, Complex1>, widened_but_8_bits>("sign", kHeader);
CATENA_DEFINE_KERNEL clip =
    elementwise<k::clip, and_complex<Clips, loops<"FFF->F", "DDD->D">>, widened_but_8_bits>("clip", kHeader);
CATENA_DEFINE_KERNEL copy = elementwise<k::copy, and_complex<All1, Complex1>, as_bits>("copy", kHeader).with(is_copy);

}  // namespace catena::kernels
