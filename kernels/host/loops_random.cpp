#include "kernels/random.h"

#include "kernels/host/define.h"
#include "kernels/host/families.h"

namespace catena::define {
namespace {

constexpr const char* kHeader = "kernels/random.h";

// Inputs: seed and offset; integers also take low and high. The loop is chosen by its output.

constexpr KernelDef kTable[] = {
    indexed<k::random_bits, loops<"LL->I", "LL->L">>("random_bits", kHeader),
    indexed<k::random_uniform, loops<"LL->f", "LL->d">>("random_uniform", kHeader),
    indexed<k::random_normal, loops<"LL->f", "LL->d">>("random_normal", kHeader),
    indexed<k::random_integers, loops<"LLll->b", "LLll->B", "LLll->h", "LLll->H", "LLll->i", "LLll->I", "LLll->l", "LLll->L">>("random_integers", kHeader),
};

}  // namespace

std::span<const KernelDef> random_kernels() { return kTable; }

}  // namespace catena::define
