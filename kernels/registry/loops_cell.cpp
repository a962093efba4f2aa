#include <catena/kernels/nn/cell.h>

#include <catena/kernels/registry/define_elementwise.h>

namespace catena::kernels {
namespace {

using namespace define;

constexpr const char* kHeader = "catena/kernels/nn/cell.h";

using Cells = loops<"eeeee->ee", "EEEEE->EE", "fffff->ff", "ddddd->dd">;
using TwoSidedCells = loops<"eeeeeeeeee->ee", "EEEEEEEEEE->EE", "ffffffffff->ff", "dddddddddd->dd">;
using Gradients = loops<"eeeeeeeee->eeeee", "EEEEEEEEE->EEEEE", "fffffffff->fffff", "ddddddddd->ddddd">;

}  // namespace

CATENA_DEFINE_KERNEL lstm = transcendental<k::lstm, Cells>("lstm", kHeader);
CATENA_DEFINE_KERNEL slstm = transcendental<k::slstm, TwoSidedCells>("slstm", kHeader);
CATENA_DEFINE_KERNEL lstm_bwd = transcendental<k::lstm_bwd, Gradients>("lstm_bwd", kHeader);

}  // namespace catena::kernels
