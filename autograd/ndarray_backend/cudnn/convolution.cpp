#include <catena/autograd/ndarray_backend/cudnn/convolution.h>

#include <array>

#include <catena/autograd/ndarray_backend/cudnn/arrays.h>
#include <catena/autograd/nn_extension/convolution.h>
#include <catena/ndarray/cuda/vendor/blas.h>

namespace autograd::internal::cudnn {
namespace {

// Returns the layouts to try, best first. 16-bit products are fast only in channels-last memory; float64 has plans only
// for contiguous memory; float32 keeps the layout of the array.
std::array<Layout, 2> layouts_for(const Array& a) {
  const bool narrow = catena::itemsize(a.dtype()) < 4;
  const bool last = narrow || (a.dtype() == Dtype::float32 && !a.is_c_contiguous() && is_in(a, Layout::channels_last));
  if (last) return {Layout::channels_last, Layout::contiguous};
  return {Layout::contiguous, Layout::channels_last};
}

// Returns the passes to try: the bias may be added by the plan or afterwards.
std::vector<Pass> passes_for(const Convolution& c) {
  if (c.pass == Convolution::Pass::data) return {Pass::data};
  if (c.pass == Convolution::Pass::filter) return {Pass::filter};
  return c.b ? std::vector{Pass::forward_bias, Pass::forward} : std::vector{Pass::forward};
}

PlanPtr plan_for(const Convolution& c, Pass pass, Layout layout) {
  const Array& near = c.images();
  const ConvolutionProblem p(pass, cudnn_type(near.dtype()), layout, c.x_shape, c.w_shape, c.y_shape, c.spec);
  const PlanRules rules{p.type, c.spec.deterministic, nd::cuda::tf32_allowed(), max_workspace_size()};
  return find_plan(near.device().id, p.key(), rules, [&p] { return p.describe(); });
}

Array execute_convolution(const Convolution& c, Pass pass, Layout layout, const PlanPtr& plan) {
  const Array& near = c.images();
  const Shape x_shape = symmetric_input(c.x_shape, c.w_shape, c.y_shape, c.spec);
  const auto operand = [&](const Array& a, const Shape& shape) {
    return a ? in_layout(a, layout) : empty_in(layout, near, shape, near.dtype());
  };
  const Array x = c.x ? extended(c.x, layout, x_shape) : operand(c.x, x_shape), w = operand(c.w, c.w_shape);
  Array y = operand(c.y, c.y_shape), bias;
  std::vector<Binding> bindings{{kX, x->data}, {kW, w->data}, {kY, y->data}};
  if (pass == Pass::forward_bias) {
    bias = in_layout(reshape(c.b, {1, c.b.size(), 1}), Layout::contiguous);
    bindings.push_back({kBias, bias->data});
  }
  execute(plan, bindings, near);
  if (pass == Pass::data) return without_extension(x, layout, c.x_shape);
  if (pass == Pass::filter) return contiguous(w);  // like the filter: optimizers read both with one index
  if (c.b && !bias) y += reshape(c.b, image_shape(1, c.b.size(), Dims::filled(c.y_shape.size() - 2, 1)));
  return y;
}

}  // namespace

Array convolution(const Convolution& c) {
  for (const Layout layout : layouts_for(c.images()))
    for (const Pass pass : passes_for(c))
      if (const PlanPtr plan = plan_for(c, pass, layout)) return execute_convolution(c, pass, layout, plan);
  return {};
}

}  // namespace autograd::internal::cudnn
