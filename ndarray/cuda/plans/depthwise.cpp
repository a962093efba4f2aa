#include <catena/ndarray/cuda/plans/depthwise.h>

#include <algorithm>

#include <catena/kernels/device/depthwise_parameters.h>
#include <catena/ndarray/cuda/plans/codegen_text.h>
#include <catena/ndarray/cuda/plans/execute.h>
#include <catena/ndarray/cuda/plans/plan_layout.h>
#include <catena/ndarray/cuda/runtime/context.h>

namespace nd::cuda {
namespace {

namespace device = catena::device;
using catena::concat;
using Pass = DepthwiseCall::Pass;

constexpr std::int64_t kRows = 4;  // of results per thread, as in kernels/device/depthwise.h

// Blocks that a multiprocessor holds at once. Its 65536 registers then suffice for the elements that a thread loads
// together and for its filter: 85, 128 or 255 registers per thread.
std::string_view blocks_at_once(const KernelKey& key) {
  if (key.dtypes[0] == Dtype::float64) return key.per_thread == 3 ? "2" : "1";
  return key.per_thread == 3 ? "3" : key.per_thread == 5 ? "2" : "1";
}

std::int64_t row_groups(const DepthwiseCall& c) { return ceil_divide(c.out_height, kRows); }
// Channels that a block of the gradient of the filters sums together.
std::int64_t together(const DepthwiseCall& c) { return c.channels_last ? std::int64_t(device::kWarp) : 1; }

}  // namespace

std::int64_t DepthwiseCall::pieces() const {
  const std::int64_t groups = images * row_groups(*this), tiles = ceil_divide(channels, together(*this));
  const std::int64_t wanted = std::clamp<std::int64_t>(2 * kBlocks / tiles, 1, std::max<std::int64_t>(groups, 1));
  return ceil_divide(groups, ceil_divide(groups, wanted));
}

LaunchPlan plan_depthwise(const DepthwiseCall& c, int processors) {
  LaunchPlan plan;
  plan.key.form = c.pass == Pass::filter                  ? Form::depthwise_filter
                  : c.pass == Pass::data && c.stride != 1 ? Form::depthwise_data
                                                          : Form::depthwise;
  plan.key.dtypes[0] = c.dtype;
  plan.key.rank = static_cast<std::uint8_t>(c.stride);
  plan.key.per_thread = static_cast<std::uint8_t>(c.kernel);
  plan.key.many_pieces = c.channels_last;
  device::DepthwiseParameters p{};
  p.images = c.images;
  p.channels = c.channels;
  p.height = c.height, p.width = c.width, p.out_height = c.out_height, p.out_width = c.out_width;
  p.pad_y = c.pad_y, p.pad_x = c.pad_x;
  p.x = c.x, p.w = c.w, p.bias = c.bias, p.y = c.y, p.partial = c.partial;
  if (c.pass == Pass::data) {
    // With a stride of 1 it is the convolution of the gradient with the filters read backwards.
    std::swap(p.height, p.out_height);
    std::swap(p.width, p.out_width);
    p.x = c.y, p.y = c.x;
    if (c.stride == 1) p.flip = 1, p.pad_y = c.kernel - 1 - c.pad_y, p.pad_x = c.kernel - 1 - c.pad_x;
  }
  std::int64_t items = 0;
  if (c.pass == Pass::filter) {
    p.pieces = c.pieces();
    p.piece = ceil_divide(c.images * row_groups(c), p.pieces);
    items = ceil_divide(c.channels, together(c)) * p.pieces;
  } else {
    const bool grouped = plan.key.form == Form::depthwise;
    const std::int64_t rows = grouped ? ceil_divide(p.out_height, kRows) : p.out_height;
    items = ceil_divide(c.images * c.channels * rows * p.out_width, device::kBlock);
  }
  plan.parameters.put_head(p);
  plan.grid_x = blocks(items, processors, 16);
  return plan;
}

void depthwise(const DepthwiseCall& call, StreamRef stream) {
  launch_plan(plan_depthwise(call, properties(stream.device.id).processors), stream);
}

void add_depthwise(GeneratedKernel& k, const KernelKey& key) {
  add_header(k, "catena/kernels/device/depthwise.h");
  set_parameters<device::DepthwiseParameters>(k, "DepthwiseParameters");
  const std::string_view function = key.form == Form::depthwise_filter ? "filter"
                                    : key.form == Form::depthwise_data ? "data"
                                                                       : "forward";
  add_function(k,
               concat("catena::device::Depthwise<", type_name(key.dtypes[0]), ", ", int(key.per_thread), ", ",
                      int(key.rank), ", ", key.many_pieces ? "true" : "false", ">::", function),
               blocks_at_once(key));
}

}  // namespace nd::cuda
