#include <catena/ndarray/engine/reduction.h>

#include <algorithm>

#include <catena/kernels/base/warning.h>
#include <catena/kernels/registry/bind.h>
#include <catena/kernels/registry/kernel.h>
#include <catena/ndarray/core/storage.h>
#include <catena/ndarray/engine/execute.h>
#include <catena/ndarray/engine/ufunc.h>

namespace nd::internal {

using catena::check;
using catena::fail;
using catena::KernelDef;

namespace {

std::int64_t reduced_count(const Shape& shape, const Dims& axes) {
  std::int64_t n = 1;
  for (std::int64_t axis : axes) n *= shape[static_cast<int>(axis)];
  return n;
}

void check_output(const KernelDef& def, const Array& a, const Array& out, const Shape& shape) {
  check<ValueError>(out.shape() == shape, def.name, "the output has shape ", out.shape(), ", the result ", shape);
  check_output_layout(def.name, *out.get());
  const Operand operand(a);
  common_device(def.name, {&operand, 1}, {&out, 1});
}

}  // namespace

Array reduce_with_loop(const KernelDef& def, int loop, const Array& a, const ReductionOptions& options,
                       Dtype result_dtype) {
  const Dims axes = catena::reduced_axes(def.name, options.axis, a.ndim());
  const Shape shape = catena::reduced_shape(a.shape(), axes, options.keepdims);
  const bool nothing = reduced_count(a.shape(), axes) == 0 && catena::size_of(shape) != 0;
  if (nothing && !def.has_identity && !options.empty_value)
    fail<ValueError>(def.name, "shape ", a.shape(), " has no elements along axes ", axes,
                     ", and the reduction of nothing has no value");
  const bool has_output = options.out != nullptr && !options.out->is_null();
  if (has_output) check_output(def, a, *options.out, shape);
  const Array out = has_output ? *options.out : Array(new_array(shape, result_dtype, a.device(), def.name));
  if (out.size() == 0) return out;
  if (nothing && !def.has_identity) {
    out.fill(*options.empty_value);
  } else {
    const catena::Input input(*a.get());
    execute(catena::call::Reduce{
        .kernel = &def, .loop = loop, .inputs = {&input, 1}, .axes = axes, .out = out.get(), .ddof = options.ddof});
  }
  return out;
}

Array apply_reduction(const KernelDef& def, const Array& a, const ReductionOptions& options) {
  if (a.is_null()) fail<TypeError>(def.name, "the array is null");
  if (!options.dtype) {
    const catena::Input input(*a.get());
    int loop = def.loop_of(a.dtype());
    if (loop < 0) loop = catena::choose_loop(def, {&input, 1});
    return reduce_with_loop(def, loop, a, options, def.loop_table[loop].type[1]);
  }
  const Dtype dtype = *options.dtype;
  for (int i = 0; i < def.num_loops; ++i)
    if (def.loop_table[i].type[0] == dtype && def.loop_table[i].type[1] == dtype) {
      catena::warn_of_lost_imaginary_part(def.name, a.dtype(), dtype);
      return reduce_with_loop(def, i, a, options, dtype);
    }
  // No loop computes in that dtype, so the elements are converted to it first.
  const Array converted = a.astype(dtype, {.copy = false});
  const catena::Input input(*converted.get());
  return reduce_with_loop(def, catena::choose_loop(def, {&input, 1}), converted, options, dtype);
}

}  // namespace nd::internal
