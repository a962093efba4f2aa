#include <catena/kernels/training/optimizer.h>

#include <catena/kernels/registry/define_multi_tensor.h>

namespace catena::kernels {
namespace {

using namespace define;

constexpr const char* kHeader = "catena/kernels/training/optimizer.h";

// Operands: the gradient, then the parameter and its states, updated in place. For hooks: the parameter, then the
// gradient.
using Updates1 = loops<"e&e->", "E&E->", "f&f->", "d&d->">;
using Updates2 = loops<"e&ee->", "E&EE->", "f&ff->", "d&dd->">;
using Updates3 = loops<"e&eee->", "E&EEE->", "f&fff->", "d&ddd->">;
using Updates4 = loops<"e&eeee->", "E&EEEE->", "f&ffff->", "d&dddd->">;

}  // namespace

CATENA_DEFINE_KERNEL sgd_update = multi_tensor<k::sgd_update, Updates1>("sgd_update", kHeader);
CATENA_DEFINE_KERNEL momentum_sgd_update =
    multi_tensor<k::momentum_sgd_update, Updates2>("momentum_sgd_update", kHeader);
CATENA_DEFINE_KERNEL nesterov_ag_update = multi_tensor<k::nesterov_ag_update, Updates2>("nesterov_ag_update", kHeader);
CATENA_DEFINE_KERNEL ada_grad_update = multi_tensor<k::ada_grad_update, Updates2>("ada_grad_update", kHeader);
CATENA_DEFINE_KERNEL ada_delta_update = multi_tensor<k::ada_delta_update, Updates3>("ada_delta_update", kHeader);
CATENA_DEFINE_KERNEL adam_update = multi_tensor<k::adam_update, Updates3>("adam_update", kHeader);
CATENA_DEFINE_KERNEL rmsprop_update = multi_tensor<k::rmsprop_update, Updates2>("rmsprop_update", kHeader);
CATENA_DEFINE_KERNEL rmsprop_centered_update =
    multi_tensor<k::rmsprop_centered_update, Updates3>("rmsprop_centered_update", kHeader);
CATENA_DEFINE_KERNEL rmsprop_momentum_update =
    multi_tensor<k::rmsprop_momentum_update, Updates3>("rmsprop_momentum_update", kHeader);
CATENA_DEFINE_KERNEL rmsprop_centered_momentum_update =
    multi_tensor<k::rmsprop_centered_momentum_update, Updates4>("rmsprop_centered_momentum_update", kHeader);
CATENA_DEFINE_KERNEL rmsprop_graves_update =
    multi_tensor<k::rmsprop_graves_update, Updates4>("rmsprop_graves_update", kHeader);
CATENA_DEFINE_KERNEL smorms3_update = multi_tensor<k::smorms3_update, Updates4>("smorms3_update", kHeader);
CATENA_DEFINE_KERNEL corrected_momentum_sgd_update =
    multi_tensor<k::corrected_momentum_sgd_update, Updates2>("corrected_momentum_sgd_update", kHeader);
CATENA_DEFINE_KERNEL adam_w_update = multi_tensor<k::adam_w_update, Updates3>("adam_w_update", kHeader);
CATENA_DEFINE_KERNEL ams_grad_update = multi_tensor<k::ams_grad_update, Updates4>("ams_grad_update", kHeader);
CATENA_DEFINE_KERNEL ada_bound_update = multi_tensor<k::ada_bound_update, Updates3>("ada_bound_update", kHeader);
CATENA_DEFINE_KERNEL ams_bound_update = multi_tensor<k::ams_bound_update, Updates4>("ams_bound_update", kHeader);
CATENA_DEFINE_KERNEL r_adam_update = multi_tensor<k::r_adam_update, Updates3>("r_adam_update", kHeader);
CATENA_DEFINE_KERNEL n_adam_update = multi_tensor<k::n_adam_update, Updates3>("n_adam_update", kHeader);
CATENA_DEFINE_KERNEL adamax_update = multi_tensor<k::adamax_update, Updates3>("adamax_update", kHeader);
CATENA_DEFINE_KERNEL lion_update = multi_tensor<k::lion_update, Updates2>("lion_update", kHeader);
CATENA_DEFINE_KERNEL msvag_update = multi_tensor<k::msvag_update, Updates3>("msvag_update", kHeader);
CATENA_DEFINE_KERNEL weight_decay = multi_tensor<k::weight_decay, Updates1>("weight_decay", kHeader);
CATENA_DEFINE_KERNEL lasso = multi_tensor<k::lasso, Updates1>("lasso", kHeader);
CATENA_DEFINE_KERNEL scale_by =
    multi_tensor<k::scale_by, loops<"@f&e->", "@f&E->", "@f&f->", "@d&d->">>("scale_by", kHeader);
CATENA_DEFINE_KERNEL gradient_hard_clip =
    multi_tensor<k::gradient_hard_clip, loops<"&e->", "&E->", "&f->", "&d->">>("gradient_hard_clip", kHeader);
CATENA_DEFINE_KERNEL follow = multi_tensor<k::follow, Updates1>("follow", kHeader);

CATENA_DEFINE_KERNEL convert_tensors =
    multi_tensor<k::convert_tensors, loops<"e&f->", "E&f->", "f&e->", "f&E->">>("convert_tensors", kHeader);

}  // namespace catena::kernels
