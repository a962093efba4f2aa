#include <catena/kernels/nn/softmax.h>

#include <catena/kernels/rows/define_row.h>
#include <catena/kernels/rows/families/softmax.h>

namespace catena::rows {
namespace {

using namespace define;

constexpr const char* kHeader = "catena/kernels/nn/softmax.h";

}  // namespace

constexpr KernelDef softmax = row<k::softmax, Floats1>("softmax", kHeader);
constexpr KernelDef log_softmax = row<k::log_softmax, Floats1>("log_softmax", kHeader);
constexpr KernelDef softmax_bwd = row<k::softmax_bwd, Floats2>("softmax_bwd", kHeader);
constexpr KernelDef log_softmax_bwd = row<k::log_softmax_bwd, Floats2>("log_softmax_bwd", kHeader);

}  // namespace catena::rows
