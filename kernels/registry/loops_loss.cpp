#include <catena/kernels/nn/loss.h>

#include <catena/kernels/registry/define_elementwise.h>
#include <catena/kernels/registry/define_indexed.h>
#include <catena/kernels/registry/define_row_wise.h>

namespace catena::kernels {
namespace {

using namespace define;

constexpr const char* kHeader = "catena/kernels/nn/loss.h";

// Inputs: scores, class weights, labels and the label to ignore.
using Picks = loops<"*e*eii->e", "*E*Eii->E", "*f*fii->f", "*d*dii->d">;
// The numbers of a row are float32 for 16-bit scores.
using Losses = loops<"*e*effii->e", "*E*Effii->E", "*f*fffii->f", "*d*dddii->d">;
using RowGradients = loops<"effff->e", "Effff->E", "fffff->f", "ddddd->d">;
using LabelGradients = loops<"*effffif->*e", "*Effffif->*E", "*fffffif->*f", "*dddddid->*d">;

}  // namespace

CATENA_DEFINE_KERNEL cross_entropy_pick = indexed<k::cross_entropy_pick, Picks>("cross_entropy_pick", kHeader);
CATENA_DEFINE_KERNEL cross_entropy = indexed<k::cross_entropy, Losses>("cross_entropy", kHeader);
CATENA_DEFINE_KERNEL cross_entropy_scale =
    indexed<k::cross_entropy_scale, loops<"*fiifff->ff", "*diiddd->dd">>("cross_entropy_scale", kHeader);
CATENA_DEFINE_KERNEL cross_entropy_bwd = row_wise<k::cross_entropy_bwd, RowGradients>("cross_entropy_bwd", kHeader);
CATENA_DEFINE_KERNEL cross_entropy_label_bwd =
    indexed<k::cross_entropy_label_bwd, LabelGradients>("cross_entropy_label_bwd", kHeader);
CATENA_DEFINE_KERNEL one_hot = indexed<k::one_hot, loops<"iee->e", "iEE->E", "iff->f", "idd->d">>("one_hot", kHeader);
CATENA_DEFINE_KERNEL logistic_cross_entropy =
    transcendental<k::logistic_cross_entropy, Floats3>("logistic_cross_entropy", kHeader);
CATENA_DEFINE_KERNEL logistic_cross_entropy_bwd =
    transcendental<k::logistic_cross_entropy_bwd, Floats4>("logistic_cross_entropy_bwd", kHeader);

CATENA_DEFINE_KERNEL ctc_step = elementwise<k::ctc_step, loops<"fffff->f", "ddddd->d">>("ctc_step", kHeader);
CATENA_DEFINE_KERNEL ctc_share = elementwise<k::ctc_share, loops<"ffff->f", "dddd->d">>("ctc_share", kHeader);

}  // namespace catena::kernels
