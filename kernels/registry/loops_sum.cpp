#include <catena/kernels/reduction/sum.h>

#include <catena/kernels/registry/define_reduction.h>

namespace catena::kernels {
namespace {

using namespace define;

constexpr const char* kHeader = "catena/kernels/reduction/sum.h";

// Small integers widen to 64 bits; float16 accumulates in float32.
using Sums =
    loops<"?->l", "b->l", "B->L", "h->l", "H->L", "i->l", "I->L", "l->l", "L->L", "e->e", "E->E", "f->f", "d->d">;
using AllSums = and_complex<Sums, Complex1>;
using Means =
    loops<"?->d", "b->d", "B->d", "h->d", "H->d", "i->d", "I->d", "l->d", "L->d", "e->e", "E->E", "f->f", "d->d">;

// Integers are summed as int64 and averaged as float64. Types of at most 32 bits are read as int32 or uint32.
constexpr char read_narrow(char type, char wide) {
  if (type == 'i' || type == 'I') return type;
  return std::string_view("?bBhH").find(type) != std::string_view::npos ? 'i' : wide;
}
constexpr char summed(char type, bool output) {
  return output || !is_bool_or_integer(type) ? as_int64(type, output) : read_narrow(type, 'l');
}
constexpr char averaged(char type, bool output) {
  return output || !is_bool_or_integer(type) ? type : type == 'L' ? 'd' : read_narrow(type, 'l');
}

}  // namespace

CATENA_DEFINE_KERNEL sum = reduction<k::sum, AllSums, summed, may_scan>("sum", kHeader).with_identity();
CATENA_DEFINE_KERNEL prod = reduction<k::prod, AllSums, summed, may_scan>("prod", kHeader).with_identity();
CATENA_DEFINE_KERNEL mean = reduction<k::mean, and_complex<Means, Complex1>, averaged>("mean", kHeader);
CATENA_DEFINE_KERNEL sum_squares = reduction<k::sum_squares, Sums, as_int64>("sum_squares", kHeader).with_identity();

}  // namespace catena::kernels
