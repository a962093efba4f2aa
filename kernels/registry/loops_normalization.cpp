#include <catena/kernels/nn/normalization.h>

#include <catena/kernels/registry/define_elementwise.h>
#include <catena/kernels/registry/define_row_wise.h>

namespace catena::kernels {
namespace {

using namespace define;

constexpr const char* kHeader = "catena/kernels/nn/normalization.h";

// Statistics of 16-bit data are float32, and so is eps, which float16 would round to a subnormal.

}  // namespace

CATENA_DEFINE_KERNEL batch_norm_fwd =
    row_wise<k::batch_norm_fwd, loops<"eeef->e;fff", "EEEf->E;fff", "ffff->f;fff", "dddd->d;ddd">>("batch_norm_fwd",
                                                                                                   kHeader);
CATENA_DEFINE_KERNEL batch_norm_bwd =
    row_wise<k::batch_norm_bwd, loops<"eeeff->e;ff", "EEEff->E;ff", "fffff->f;ff", "ddddd->d;dd">>("batch_norm_bwd",
                                                                                                   kHeader);
CATENA_DEFINE_KERNEL fixed_batch_norm =
    elementwise<k::fixed_batch_norm, loops<"eeeeef->e", "EEEEEf->E", "ffffff->f", "dddddd->d">>("fixed_batch_norm",
                                                                                                kHeader);
CATENA_DEFINE_KERNEL layer_norm_fwd =
    row_wise<k::layer_norm_fwd, loops<"eeeeff->e;ff", "EEEEff->E;ff", "ffffff->f;ff", "dddddd->d;dd">>("layer_norm_fwd",
                                                                                                       kHeader);
CATENA_DEFINE_KERNEL layer_norm_ggamma =
    elementwise<k::layer_norm_ggamma, loops<"eeeff->f", "EEEff->f", "fffff->f", "ddddd->d">>("layer_norm_ggamma",
                                                                                             kHeader);
namespace {
constexpr RowSum kLayerNormSums[] = {{&layer_norm_ggamma, {0, 1, 2, 4, 5}}, {nullptr, {1}}};
}
CATENA_DEFINE_KERNEL layer_norm_bwd =
    row_wise<k::layer_norm_bwd, loops<"eeeefff->e", "EEEEfff->E", "fffffff->f", "ddddddd->d">>("layer_norm_bwd",
                                                                                               kHeader)
        .with_sums(kLayerNormSums);
CATENA_DEFINE_KERNEL rms_norm_fwd =
    row_wise<k::rms_norm_fwd, loops<"eef->e;f", "EEf->E;f", "fff->f;f", "ddd->d;d">>("rms_norm_fwd", kHeader);
CATENA_DEFINE_KERNEL rms_norm_ggamma =
    elementwise<k::rms_norm_ggamma, loops<"eef->f", "EEf->f", "fff->f", "ddd->d">>("rms_norm_ggamma", kHeader);
namespace {
constexpr RowSum kRmsNormSums[] = {{&rms_norm_ggamma, {0, 1, 3}}};
}
CATENA_DEFINE_KERNEL rms_norm_bwd =
    row_wise<k::rms_norm_bwd, loops<"eeef->e", "EEEf->E", "ffff->f", "dddd->d">>("rms_norm_bwd", kHeader)
        .with_sums(kRmsNormSums);
CATENA_DEFINE_KERNEL squared_difference = elementwise<k::squared_difference, Floats2>("squared_difference", kHeader);
CATENA_DEFINE_KERNEL batch_norm_write =
    elementwise<k::batch_norm_write, loops<"fffff->f", "ddddd->d">>("batch_norm_write", kHeader);
CATENA_DEFINE_KERNEL batch_norm_ggamma =
    elementwise<k::batch_norm_ggamma, loops<"ffff->f", "dddd->d">>("batch_norm_ggamma", kHeader);
CATENA_DEFINE_KERNEL batch_norm_gx =
    elementwise<k::batch_norm_gx, loops<"fffffff->f", "ddddddd->d">>("batch_norm_gx", kHeader);

}  // namespace catena::kernels
