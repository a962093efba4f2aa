#include <catena/autograd/derivatives.h>

#include <catena/autograd/function_node.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/variable_node.h>
#include <catena/kernels/base/error_context.h>

namespace autograd::internal {
namespace {

using catena::check;
using catena::ValueError;

Variable zeros_like_variable(const Variable& v) { return constant_variable(zeros_like(v.data())); }

// One call of the function, with inputs that are variables of its own: copies in the graph of the inputs if the results
// are functions of these, else leaves.
struct Evaluation {
  Variables inputs, outputs;
  Evaluation(const char* op, const ListFunction& f, const Variables& xs, bool graph) {
    graph_mode_of(xs);  // throws for null inputs
    const auto backprop = force_backprop_mode();
    for (const Variable& x : xs)
      inputs.push_back(graph && graph_mode_of({&x, 1}).graph ? identity(x) : Variable(x.data()));
    outputs = f(inputs);
    for (const Variable& y : outputs) check<ValueError>(bool(y), op, "the function returned a null Variable");
  }
  // Throws unless there is one output, of one element.
  void check_scalar(const char* op) const {
    check<ValueError>(outputs.size() == 1 && outputs[0].size() == 1, op, "the function must return one element, not ",
                      outputs.size(), " outputs of ", outputs.empty() ? std::int64_t(0) : outputs[0].size(),
                      " elements");
  }
};

void check_weights(const char* op, const Variables& weights, const Variables& of, const char* what) {
  check<ValueError>(weights.size() == of.size(), op, weights.size(), " weights given for ", of.size(), " ", what);
  for (std::size_t k = 0; k < of.size(); ++k) {
    check<catena::TypeError>(bool(weights[k]), op, "the weight ", k, " is a null Variable");
    check<ValueError>(weights[k].shape() == of[k].shape() && weights[k].dtype() == of[k].dtype(), op, "the weight ", k,
                      " is of ", weights[k].label(), ", not of ", of[k].label());
  }
}

// Returns the gradients; zeros where there is none.
Variables gradients_of(const Variables& ys, const Variables& xs, const Variables& weights, bool graph) {
  Variables gx = grad(ys, xs, weights, graph);
  for (std::size_t i = 0; i < gx.size(); ++i)
    if (!gx[i]) gx[i] = zeros_like_variable(xs[i]);
  return gx;
}

// Leaves with the values of the variables, unless the results are functions of the inputs.
Variables finished(const Variables& v, bool graph) {
  if (graph) return v;
  Variables leaves;
  for (const Variable& y : v) leaves.push_back(constant_variable(y.data()));
  return leaves;
}

// Returns the derivatives of all elements of y with respect to x, of shape y.shape + x.shape.
Variable rows_of(const Variable& y, const Variable& x, bool graph) {
  Variables rows;
  Shape shape = y.shape();
  for (const std::int64_t n : x.shape()) shape.push_back(n);
  for (std::int64_t i = 0; i < y.size(); ++i) {
    const Array weights = arrays::zeros({y.size()}, y.dtype(), y.device());
    fill(slice(weights, 0, i, i + 1), 1);
    const Variable one = constant_variable(reshape(weights, y.shape()));
    rows.push_back(reshape(gradients_of({y}, {x}, {one}, graph)[0], Shape{1, x.size()}));
  }
  if (rows.empty()) return constant_variable(arrays::zeros(shape, x.dtype(), x.device()));
  return finished({reshape(concat(rows, 0), shape)}, graph)[0];
}

}  // namespace

VariablesAndDerivatives vjp(const ListFunction& f, const Variables& xs, const Variables& v, bool graph) try {
  const Evaluation of("vjp", f, xs, graph);
  if (v.empty())
    for (const Variable& y : of.outputs)
      check<ValueError>(y.size() == 1, "vjp", "an output has shape ", y.shape(), ": give a weight v of this shape");
  else check_weights("vjp", v, of.outputs, "outputs");
  const Variables gx = gradients_of(of.outputs, of.inputs, v, graph);
  return {finished(of.outputs, graph), gx};
} catch (...) {
  catena::rethrow_standard("vjp");
}

VariablesAndDerivatives jvp(const ListFunction& f, const Variables& xs, const Variables& v, bool graph) try {
  check_weights("jvp", v, xs, "inputs");
  const Evaluation of("jvp", f, xs, graph);
  // The gradients of the inputs are linear in the weights of the outputs; the derivative with respect to these is J.
  Variables weights, gx, directions;
  for (const Variable& y : of.outputs) weights.push_back(zeros_like_variable(y));
  const Variables all = grad(of.outputs, of.inputs, weights, true);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i]) continue;
    gx.push_back(all[i]);
    directions.push_back(v[i]);
  }
  const Variables ty = gradients_of(gx, weights, directions, graph);
  return {finished(of.outputs, graph), ty};
} catch (...) {
  catena::rethrow_standard("jvp");
}

VariablesAndDerivatives hvp(const ListFunction& f, const Variables& xs, const Variables& v, bool graph) try {
  check_weights("hvp", v, xs, "inputs");
  const Evaluation of("hvp", f, xs, graph);
  of.check_scalar("hvp");
  const Variables gx = gradients_of(of.outputs, of.inputs, {}, true);
  return {finished(of.outputs, graph), gradients_of(gx, of.inputs, v, graph)};
} catch (...) {
  catena::rethrow_standard("hvp");
}

Variable jacobian(const ListFunction& f, const Variable& x, bool graph) try {
  const Evaluation of("jacobian", f, {x}, graph);
  check<ValueError>(of.outputs.size() == 1, "jacobian", "the function returned ", of.outputs.size(),
                    " outputs; it must return one");
  return rows_of(of.outputs[0], of.inputs[0], graph);
} catch (...) {
  catena::rethrow_standard("jacobian");
}

Variable hessian(const ListFunction& f, const Variable& x, bool graph) try {
  const Evaluation of("hessian", f, {x}, graph);
  of.check_scalar("hessian");
  return rows_of(gradients_of(of.outputs, of.inputs, {}, true)[0], of.inputs[0], graph);
} catch (...) {
  catena::rethrow_standard("hessian");
}

}  // namespace autograd::internal
