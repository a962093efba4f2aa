#include "kernels/elementwise/arithmetic.h"

#include "kernels/host/define.h"
#include "kernels/host/families.h"

namespace catena::define {
namespace {

constexpr const char* kHeader = "kernels/elementwise/arithmetic.h";

// Integers give float64, bool among them as int8.
using Quotients = join_loops<loops<"bb->d", "BB->d", "hh->d", "HH->d", "ii->d", "II->d", "ll->d", "LL->d">, Floats2>::type;
using Clips = join_loops<loops<"???->?", "bbb->b", "BBB->B", "hhh->h", "HHH->H", "iii->i", "III->I", "lll->l", "LLL->L">, Floats3>::type;

constexpr KernelDef kTable[] = {
    elementwise<k::add, All2>("add", kHeader),
    elementwise<k::subtract, Numbers2>("subtract", kHeader),
    elementwise<k::multiply, All2>("multiply", kHeader),
    elementwise<k::true_divide, Quotients>("true_divide", kHeader),
    elementwise<k::negative, Numbers1>("negative", kHeader),
    elementwise<k::absolute, All1>("absolute", kHeader),
    elementwise<k::reciprocal, Numbers1>("reciprocal", kHeader),
    elementwise<k::square, Numbers1>("square", kHeader),
    elementwise<k::sqrt, Floats1>("sqrt", kHeader),
    elementwise<k::rsqrt, Floats1>("rsqrt", kHeader),
    elementwise<k::sign, Numbers1>("sign", kHeader),
    elementwise<k::clip, Clips>("clip", kHeader),
    elementwise<k::copy, All1>("copy", kHeader),
};

}  // namespace

std::span<const KernelDef> arithmetic_kernels() { return kTable; }

}  // namespace catena::define
