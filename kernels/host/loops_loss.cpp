#include "kernels/nn/loss.h"

#include "kernels/host/define.h"
#include "kernels/host/families.h"

namespace catena::define {
namespace {

constexpr const char* kHeader = "kernels/nn/loss.h";

// Scores and class weights, labels and the one to ignore. A count does not fit float16, so norms are float32 there.
using Picks = loops<"*e*eii->e", "*E*Eii->E", "*f*fii->f", "*d*dii->d">;
using PickGradients = loops<"*eeiief->e", "*EEiiEf->E", "*ffiiff->f", "*ddiidd->d">;

constexpr KernelDef kTable[] = {
    indexed<k::cross_entropy_pick, Picks>("cross_entropy_pick", kHeader),
    indexed<k::cross_entropy_bwd, PickGradients>("cross_entropy_bwd", kHeader),
    indexed<k::one_hot, loops<"iee->e", "iEE->E", "iff->f", "idd->d">>("one_hot", kHeader),
};

}  // namespace

std::span<const KernelDef> loss_kernels() { return kTable; }

}  // namespace catena::define
