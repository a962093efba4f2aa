#include <catena/autograd/variable.h>

#include <atomic>
#include <thread>
#include <typeinfo>

#include <catena/autograd/backend/backend.h>
#include <catena/autograd/backward.h>
#include <catena/autograd/debug.h>
#include <catena/autograd/function_node.h>
#include <catena/autograd/variable_node.h>
#include <catena/kernels/base/error_context.h>

namespace autograd {

using internal::Access;
using internal::VariableNode;

namespace internal {

Variable VariableNode::hold() noexcept {
  Variable v = handle();
  while (!v && refs.load(catena::MemoryOrder::acquire) >= kHandles) std::this_thread::yield();
  return v;
}

Variable VariableNode::grad_handle() noexcept {
  if (grad != nullptr) grad->handles.fetch_add(1, catena::MemoryOrder::relaxed);
  return Access::adopt(grad);
}

void VariableNode::set_grad(const Variable& g, bool shared) {
  const Variable old = Access::adopt(grad);  // released after the new gradient is in place
  grad = Access::node(g);
  if (grad != nullptr) grad->handles.fetch_add(1, catena::MemoryOrder::relaxed);
  grad_shared = shared;
}

void check_grad(const FunctionNode* function, const Array& data, Dtype dtype, const Shape& shape, Device device,
                const Array& grad) {
  const bool other_backend = data && !same_backend(data, grad), other_device = device != grad.device();
  if (!other_backend && !other_device && grad.dtype() == dtype && grad.shape() == shape) [[likely]]
    return;
  std::string detail;
  if (function != nullptr) {
    detail = catena::concat("Function `", class_name(typeid(*function)), "` (", function->label(), ") has a bug.\n");
    if (!function->stack().empty()) detail += "Stacktrace of the function is below:\n" + function->stack();
  }
  if (other_backend)
    throw catena::TypeError(catena::concat(detail, "Type of data and grad mismatch\n", data.backend().name(),
                                           " != ", grad.backend().name()));
  if (other_device) {
    detail = catena::concat(detail, "Device of data and grad mismatch\n", device, " != ", grad.device(),
                            ": to_device copies an array");
    if (device.kind != grad.device().kind) throw catena::TypeError(detail);
    throw catena::ValueError(detail);
  }
  if (grad.dtype() != dtype)
    throw catena::TypeError(catena::concat(detail, "Dtype of data and grad mismatch\n", dtype, " != ", grad.dtype()));
  throw catena::ValueError(catena::concat(detail, "Shape of data and grad mismatch\n", shape, " != ", grad.shape()));
}

}  // namespace internal

// ---- handles ------------------------------------------------------------------------------------

void Variable::set_options(const VariableOptions& options) {
  node_->volatile_flag = options.volatile_;
  node_->requires_grad = node_->requires_grad && options.requires_grad;
  if (options.grad) set_grad(options.grad);
  if (!options.name.empty()) set_name(options.name);
}

Variable::Variable(Pending) : node_(new VariableNode) {}

void Variable::drop_data() {
  VariableNode& n = checked();
  n.data = {};
  n.graph_node()->set_grad({}, false);
}

namespace {
// Integers and bools have no gradients.
bool has_gradients(Dtype t) { return catena::is_floating(t) || catena::is_complex_dtype(t); }
}  // namespace

Variable Variable::wrap(const Array& data) {
  catena::check<catena::TypeError>(bool(data), "Variable", "an array is needed, not a null one");
  Variable v = internal::constant_variable(data);
  v.node_->requires_grad = has_gradients(data.dtype());
  return v;
}

void Variable::add_handle() const noexcept { node_->handles.fetch_add(1, catena::MemoryOrder::relaxed); }

void Variable::drop_handle() noexcept {
  VariableNode* n = std::exchange(node_, nullptr);
  if (n->handles.fetch_sub(1, catena::MemoryOrder::acq_rel) != 1) return;
  n->data = {};
  n->set_grad({}, false);
  internal::release(n, VariableNode::kHandles);
}

VariableNode& Variable::checked() const {
  if (node_ == nullptr) [[unlikely]]
    catena::fail<catena::ValueError>("Variable", "a null Variable has no properties");
  return *node_;
}

// ---- plain properties ---------------------------------------------------------------------------

const Array& Variable::data() const { return checked().data; }

const Array& Variable::present() const {
  const VariableNode& n = checked();
  if (!n.data) [[unlikely]]
    catena::fail<catena::ValueError>("Variable", "the variable ", name(),
                                     " has no data yet: its shape is found when the link that owns it is called first");
  return n.data;
}

void Variable::set_data(const Array& data) {
  catena::check<catena::TypeError>(bool(data), "set_data", "an array is needed, not a null one");
  checked().data = data;
}

Array Variable::grad() const {
  const VariableNode* n = checked().graph_node();
  return n->grad ? n->grad->data : Array();
}

void Variable::set_grad(const Array& grad) {
  if (grad) set_grad_variable(wrap(grad));
  else cleargrad();
}

Variable Variable::grad_variable() const { return checked().graph_node()->grad_handle(); }

void Variable::set_grad_variable(const Variable& grad) {
  VariableNode* n = checked().graph_node();
  if (grad) {
    const Array& data = present();
    internal::check_grad(nullptr, data, data.dtype(), data.shape(), data.device(), grad.data());
  }
  n->set_grad(grad, false);
}

FunctionNode* Variable::creator() const noexcept { return node_ ? node_->graph_node()->creator : nullptr; }
int Variable::rank() const noexcept { return node_ ? node_->graph_node()->rank : 0; }
Flag Variable::volatile_flag() const noexcept { return node_ ? node_->volatile_flag : AUTO; }
void Variable::set_volatile(Flag f) { checked().volatile_flag = f; }
bool Variable::requires_grad() const noexcept { return node_ && node_->requires_grad; }
void Variable::set_requires_grad(bool requires_grad) {
  VariableNode& n = checked();
  catena::check<catena::RuntimeError>(n.graph_node()->is_leaf(), "set_requires_grad",
                                      "the variable was made by a function (unchain() makes it a leaf)");
  catena::check<catena::TypeError>(!requires_grad || !n.data || has_gradients(n.data.dtype()), "set_requires_grad",
                                   "a variable of ", n.data ? n.data.dtype() : Dtype::float32, " has no gradient");
  n.requires_grad = requires_grad;
}

const std::string& Variable::name() const {
  static const std::string none;
  const VariableNode& n = checked();
  return n.name ? *n.name : none;
}

void Variable::set_name(const std::string& name) try {
  VariableNode& n = checked();
  if (name.empty()) n.name.reset();
  else n.name = catena::Owned<std::string>(new std::string(name));
} catch (...) {
  catena::rethrow_standard("Variable");
}

void Variable::set_creator(FunctionNode* creator, int output_index) {
  checked().graph_node()->set_creator(creator, output_index);
}

// ---- moving and copying values ------------------------------------------------------------------

void Variable::to_device(Device device) {
  VariableNode& n = checked();
  n.data = autograd::to_device(n.data, device);
  VariableNode* node = n.graph_node();
  if (node->grad == nullptr || node->grad->data.device() == device) return;
  node->set_grad(wrap(autograd::to_device(node->grad->data, device)), false);
}

void Variable::to_gpu(std::optional<int> id) {
  Device device{Device::Kind::cuda, 0};
  if (id) {
    device.id = static_cast<std::int16_t>(*id);
  } else if (const Device current = data().backend().default_device(); current.kind == Device::Kind::cuda) {
    device = current;
  }
  to_device(device);
}

void Variable::cleargrad() const { checked().graph_node()->set_grad({}, false); }

void Variable::zerograd() const {
  warn("DeprecationWarning", "Variable.zerograd is deprecated. Use Variable.cleargrad instead.");
  VariableNode* n = checked().graph_node();
  if (n->grad != nullptr && !n->grad_shared) fill(n->grad->data, 0);
  else n->set_grad(wrap(zeros_like(data())), false);
}

void Variable::copydata(const Variable& from) { copy_across(data(), from.data()); }

void Variable::addgrad(const Variable& from) {
  const VariableNode* source = from.checked().graph_node();
  if (source->grad == nullptr) return;
  VariableNode* n = checked().graph_node();
  Array g = source->grad->data;
  const bool foreign = !same_backend(g, data()) || g.device() != data().device();
  if (foreign || n->grad == nullptr) {
    const Array own = empty_like(data());
    copy_across(own, g);
    g = own;
  }
  if (n->grad == nullptr) n->set_grad(wrap(g), false);
  else if (n->grad_shared) n->set_grad(wrap(n->grad->data + g), false);
  else n->grad->data += g;
}

// ---- graph --------------------------------------------------------------------------------------

void Variable::backward(const BackwardOptions& options) const { internal::run_backward({*this}, options); }

void Variable::unchain() const { checked().graph_node()->set_creator(nullptr, 0); }

void Variable::unchain_backward() const try {
  // Unchaining a function removes its inputs, so their creators are collected first.
  std::vector<NodePtr<FunctionNode>> pending;
  const auto visit = [&pending](FunctionNode* f) {
    if (f == nullptr) return;
    retain(f);
    NodePtr<FunctionNode> kept(f);
    pending.push_back(std::move(kept));
  };
  visit(creator());
  while (!pending.empty()) {
    const NodePtr<FunctionNode> f = std::move(pending.back());
    pending.pop_back();
    for (std::size_t i = 0; i < f->num_inputs(); ++i) visit(f->input_node(i)->creator);
    f->unchain();
  }
  unchain();
} catch (...) {
  catena::rethrow_standard("unchain_backward");
}

}  // namespace autograd
