#include <catena/kernels/nn/softmax.h>

#include <catena/kernels/registry/define_row_wise.h>
#include <catena/kernels/registry/families/softmax.h>

namespace catena::kernels {
namespace {

using namespace define;

constexpr const char* kHeader = "catena/kernels/nn/softmax.h";

}  // namespace

constexpr KernelDef softmax = row_wise<k::softmax, Floats1>("softmax", kHeader);
constexpr KernelDef log_softmax = row_wise<k::log_softmax, Floats1>("log_softmax", kHeader);
constexpr KernelDef softmax_bwd = row_wise<k::softmax_bwd, Floats2>("softmax_bwd", kHeader);
constexpr KernelDef log_softmax_bwd = row_wise<k::log_softmax_bwd, Floats2>("log_softmax_bwd", kHeader);

}  // namespace catena::kernels
