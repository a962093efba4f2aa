// Checks of indices: plans and texts. The errors are thrown by index_errors.cpp.
#include <catena/kernels/registry/bind.h>
#include <catena/ndarray/cuda/plans/codegen_text.h>
#include <catena/ndarray/cuda/plans/plan_layout.h>

namespace nd::cuda {

namespace device = catena::device;
using catena::concat;
using catena::Shape;
using catena::Strides;

LaunchPlan plan_index_check(const catena::bound::CheckIndices& call, device::IndexRecord* record, const char* name,
                            int processors) {
  Shape shape = *call.indices.shape;
  Strides strides = *call.indices.strides;
  catena::merge_axes(shape, {&strides, 1});
  at_least_one_axis(shape, {&strides, 1});
  const std::int64_t n = catena::size_of(shape);
  LaunchPlan plan;
  plan.key.form = Form::index_check;
  plan.key.rank = rank_class(shape.size(), device::kMaxExactRank);
  plan.key.index32 = n <= kMax31 && fits_int32(shape, strides);
  plan.key.dtypes[0] = call.indices.dtype == Dtype::bool_ ? Dtype::uint8 : call.indices.dtype;
  ParameterBlock& p = plan.parameters;
  p.put_head(device::IndexCheckHead{
      .n = n, .rank = shape.size(), .in = call.indices.data, .record = record, .rule = call.rule, .name = name});
  put_axes(p, shape, axes_of(plan.key.rank), 1);
  put_axes(p, strides, axes_of(plan.key.rank), 0);
  plan.grid_x = blocks(ceil_divide(n, device::kBlock), processors, 16);
  return plan;
}

void add_index_check(GeneratedKernel& k, const KernelKey& key) {
  add_header(k, "catena/kernels/device/index_check.h");
  set_parameters<device::IndexCheckParameters>(k, "IndexCheckParameters", key.rank);
  add_function(k, concat("catena::device::IndexCheck<", type_name(key.dtypes[0]), ", ", index_name(key), ", ",
                         int(key.rank), ">::run"));
}

}  // namespace nd::cuda
