#include <catena/autograd/ndarray_backend/cudnn/convolution.h>

#include <array>

#include <catena/autograd/ndarray_backend/cudnn/arrays.h>
#include <catena/autograd/nn_extension/convolution.h>
#include <catena/ndarray/cuda/vendor/blas.h>

namespace autograd::internal::cudnn {
namespace {

Layout other(Layout layout) { return layout == Layout::contiguous ? Layout::channels_last : Layout::contiguous; }
// Returns the layout of the array; `preferred` if it has both, none, or is null.
Layout own_layout(const Array& a, Layout preferred) {
  return a && !is_in(a, preferred) && is_in(a, other(preferred)) ? other(preferred) : preferred;
}

// Returns the layouts to try, best first: the operands as they are; then all tensors in one layout, to which operands
// are copied. 16-bit products are fast only in channels-last memory, which their results have; float64 has plans only
// for contiguous memory; float32 keeps the layout of the array. Filters and their gradients are contiguous, because
// optimizers read both with one index.
std::array<Layouts, 3> layouts_for(const Convolution& c) {
  const Array& a = c.images();
  const bool narrow = catena::itemsize(a.dtype()) < 4;
  const bool last = narrow || (a.dtype() == Dtype::float32 && !a.is_c_contiguous() && is_in(a, Layout::channels_last));
  const Layout first = last ? Layout::channels_last : Layout::contiguous;
  return {Layouts{own_layout(c.x, first), own_layout(c.w, Layout::contiguous), own_layout(c.y, first)}, first,
          other(first)};
}

// Returns the passes to try: the bias may be added by the plan or afterwards.
std::vector<Pass> passes_for(const Convolution& c) {
  if (c.pass == Convolution::Pass::data) return {Pass::data};
  if (c.pass == Convolution::Pass::filter) return {Pass::filter};
  return c.b ? std::vector{Pass::forward_bias, Pass::forward} : std::vector{Pass::forward};
}

PlanPtr plan_for(const Convolution& c, Pass pass, const Layouts& layouts, std::int64_t workspace_limit) {
  const Array& near = c.images();
  const ConvolutionProblem p(pass, cudnn_type(near.dtype()), layouts, c.x_shape, c.w_shape, c.y_shape, c.spec);
  const PlanRules rules{p.type, c.spec.deterministic, nd::cuda::tf32_allowed(), workspace_limit};
  return find_plan(near.device().id, p.key(), rules, [&p] { return p.describe(); });
}

// Returns the workspace of the plan. Where there is no memory for it, replaces the plan by the best one that needs
// less.
Array workspace_of(PlanPtr& plan, const Convolution& c, Pass pass, const Layouts& layouts) {
  for (;;) {
    try {
      return new_workspace(*plan, c.images());
    } catch (const catena::OutOfMemoryError&) {
      const PlanPtr smaller =
          plan->workspace_bytes > 0 ? plan_for(c, pass, layouts, plan->workspace_bytes - 1) : nullptr;
      if (!smaller) throw;
      plan = smaller;
    }
  }
}

Array execute_convolution(const Convolution& c, Pass pass, const Layouts& layouts, PlanPtr plan) {
  const Array& near = c.images();
  const Shape x_shape = symmetric_input(c.x_shape, c.w_shape, c.y_shape, c.spec);
  const auto operand = [&](const Array& a, const Shape& shape, Layout layout) {
    return a ? in_layout(a, layout) : empty_in(layout, near, shape, near.dtype());
  };
  const Array x = c.x ? extended(c.x, layouts.x, x_shape) : operand(c.x, x_shape, layouts.x);
  const Array w = operand(c.w, c.w_shape, layouts.w);
  Array y = operand(c.y, c.y_shape, layouts.y), bias;
  std::vector<Binding> bindings{{kX, x->data}, {kW, w->data}, {kY, y->data}};
  if (pass == Pass::forward_bias) {
    bias = in_layout(reshape(c.b, {1, c.b.size(), 1}), Layout::contiguous);
    bindings.push_back({kBias, bias->data});
  }
  const Array workspace = workspace_of(plan, c, pass, layouts);
  execute(plan, bindings, workspace, near);
  if (pass == Pass::data) return without_extension(x, layouts.x, c.x_shape);
  if (pass == Pass::filter) return contiguous(w);
  if (c.b && !bias) y += reshape(c.b, image_shape(1, c.b.size(), Dims::filled(c.y_shape.size() - 2, 1)));
  return y;
}

}  // namespace

Array convolution(const Convolution& c) {
  const std::int64_t limit = max_workspace_size(c.images().device());
  for (const Layouts& layouts : layouts_for(c))
    for (const Pass pass : passes_for(c))
      if (const PlanPtr plan = plan_for(c, pass, layouts, limit)) return execute_convolution(c, pass, layouts, plan);
  return {};
}

}  // namespace autograd::internal::cudnn
