#include <catena/ndarray/engine/reduction.h>

#include <algorithm>

#include <catena/ndarray/core/storage.h>
#include <catena/ndarray/device/device.h>
#include <catena/ndarray/device/stream.h>
#include <catena/ndarray/engine/ufunc.h>

namespace nd::internal {

using catena::check;
using catena::fail;
using catena::KernelDef;

namespace {

// out[...] = reduction of `a`, which is not empty or has an identity. `out` has the reduced shape without the axes, or
// with them.
void run_reduction(const KernelDef& def, int loop, const Array& a, const Dims& axes, const Array& out) {
  Shape in_shape = a.shape(), out_shape = catena::reduced_shape(in_shape, axes, true);
  Strides in_strides = a.strides(), out_strides = reduced_strides(*out.get(), a.ndim(), axes);
  catena::ReduceCall call;
  call.kernel = &def;
  call.loop = loop;
  call.axes = axes;
  if (axes.empty()) {  // every element alone, as over an axis of length 1
    call.axes.push_back(in_shape.size());
    in_shape.push_back(1);
    in_strides.push_back(0);
    out_shape.push_back(1);
    out_strides.push_back(0);
  }
  call.in = {a->data, a.dtype(), false, &in_shape, &in_strides};
  call.out = {out->data, out.dtype(), false, &out_shape, &out_strides};
  record_use(*a.get());
  record_use(*out.get());
  backend(a.device().kind).reduce(call, current_stream(a.device()));
}

std::int64_t reduced_count(const Shape& shape, const Dims& axes) {
  std::int64_t n = 1;
  for (std::int64_t axis : axes) n *= shape[static_cast<int>(axis)];
  return n;
}

}  // namespace

Array reduce_with_loop(const KernelDef& def, int loop, const Array& a, const ReductionOptions& options,
                       Dtype result_dtype) {
  const Dims axes = catena::normalize_axes(def.name, options.axis, a.ndim());
  const Shape shape = catena::reduced_shape(a.shape(), axes, options.keepdims);
  const bool nothing = reduced_count(a.shape(), axes) == 0 && catena::size_of(shape) != 0;
  check<ValueError>(!nothing || def.has_identity || options.of_nothing.has_value(), def.name, "shape ", a.shape(),
                    " has no elements along axes ", axes, ", and the reduction of nothing has no value");
  if (!options.out.is_null()) {
    const Array& out = options.out;
    check<ValueError>(out.shape() == shape, def.name, "the output has shape ", out.shape(), ", the result ", shape);
    check_output_layout(def.name, out);
    const Operand operand(a);
    common_device(def.name, {&operand, 1}, {&out, 1});
  }
  const bool in_place =
      !options.out.is_null() && !catena::overlaps(*a.get(), *options.out.get()) && options.out->data != a->data;
  const Array out = in_place ? options.out : Array(new_array(shape, result_dtype, a.device()));
  if (out.size() != 0) {
    if (nothing && !def.has_identity) out.fill(*options.of_nothing);
    else run_reduction(def, loop, a, axes, out);
  }
  if (options.out.is_null()) return out;
  if (in_place) touch(out);
  else assign(def.name, options.out, out);
  return options.out;
}

Strides reduced_strides(const catena::ArrayHeader& out, int rank, const Dims& axes) {
  const bool kept = out.shape.size() == rank;
  Strides strides;
  for (int axis = 0, k = 0; axis < rank; ++axis) {
    const bool reduced = std::find(axes.begin(), axes.end(), axis) != axes.end();
    strides.push_back(reduced ? 0 : out.strides[kept ? axis : k]);
    if (!reduced) ++k;
  }
  return strides;
}

Strides guide_strides(std::span<const catena::BoundOperand> operands, const Shape& shape, Dtype element) {
  for (const catena::BoundOperand& o : operands) {
    bool whole = true;
    for (int a = 0; a < shape.size(); ++a) whole &= shape[a] == 1 || (*o.strides)[a] != 0;
    if (whole) return *o.strides;
  }
  return catena::c_strides(shape, catena::itemsize(element));
}

Array apply_reduction(const KernelDef& def, const Array& a, const ReductionOptions& options) {
  check<TypeError>(!a.is_null(), def.name, "the array is null");
  if (!options.dtype) {
    const catena::Input input(*a.get());
    const int loop = catena::choose_loop(def, {&input, 1});
    return reduce_with_loop(def, loop, a, options, def.loop_table[loop].type[1]);
  }
  const Dtype dtype = *options.dtype;
  for (int i = 0; i < def.num_loops; ++i)
    if (def.loop_table[i].type[0] == dtype && def.loop_table[i].type[1] == dtype)
      return reduce_with_loop(def, i, a, options, dtype);
  // No loop computes in that dtype: elements are converted to it first, the result last.
  const Array converted = a.astype(dtype, {.copy = false});
  const catena::Input input(*converted.get());
  return reduce_with_loop(def, catena::choose_loop(def, {&input, 1}), converted, options, dtype);
}

}  // namespace nd::internal
