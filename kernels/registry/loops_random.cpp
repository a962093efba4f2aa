#include <catena/kernels/random.h>

#include <catena/kernels/registry/define_indexed.h>

namespace catena::kernels {
namespace {

using namespace define;

constexpr const char* kHeader = "catena/kernels/random.h";

// Inputs: seed and offset; integers also take low and high. The loop is chosen by its output.
constexpr char result_as_int64(char type, bool output) { return output ? as_int64(type, true) : type; }

}  // namespace

CATENA_DEFINE_KERNEL random_bits =
    indexed<k::random_bits, loops<"LL->I", "LL->L">>("random_bits", kHeader).with(is_random);
CATENA_DEFINE_KERNEL random_uniform =
    indexed<k::random_uniform, loops<"LL->f", "LL->d">>("random_uniform", kHeader).with(is_random);
CATENA_DEFINE_KERNEL random_normal =
    indexed<k::random_normal, loops<"LL->f", "LL->d">>("random_normal", kHeader).with(is_random);
CATENA_DEFINE_KERNEL random_integers =
    indexed<k::random_integers,
            loops<"LLll->b", "LLll->B", "LLll->h", "LLll->H", "LLll->i", "LLll->I", "LLll->l", "LLll->L">,
            result_as_int64>("random_integers", kHeader)
        .with(is_random);

}  // namespace catena::kernels
