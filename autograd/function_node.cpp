#include <catena/autograd/function_node.h>

#include <algorithm>
#include <typeinfo>

#include <catena/autograd/autocast.h>
#include <catena/autograd/current_device.h>
#include <catena/autograd/debug.h>
#include <catena/autograd/hooks.h>
#include <catena/autograd/input_types.h>
#include <catena/autograd/variable_node.h>
#include <catena/kernels/base/error_context.h>

namespace autograd {

using internal::Access;
using internal::VariableNode;

// ---- lifetime -----------------------------------------------------------------------------------

FunctionNode::~FunctionNode() { drop_inputs(); }

// Held for a few instructions only. Threads contend only if one destroys a variable while another works on its graph.
class FunctionNode::OutputLock {
 public:
  explicit OutputLock(const FunctionNode& f) noexcept : lock_(f.output_lock_) {
    while (lock_.exchange(true, catena::MemoryOrder::acquire)) {}
  }
  ~OutputLock() { lock_.store(false, catena::MemoryOrder::release); }

 private:
  catena::Atomic<bool>& lock_;
};

namespace {
constinit thread_local FunctionNode* to_delete = nullptr;  // nodes whose count is 0, linked through next_
constinit thread_local bool draining = false;
}  // namespace

void release(FunctionNode* f) noexcept {
  if (f == nullptr || !catena::drop_reference(f->refs_)) return;
  f->next_ = std::exchange(to_delete, f);
  if (draining) return;  // an outer call of release is in the loop below and will delete f
  draining = true;
  while (FunctionNode* node = to_delete) {
    to_delete = node->next_;
    delete node;
  }
  draining = false;
}

void FunctionNode::drop_inputs() noexcept {
  for (VariableNode* n : inputs_) internal::release(n);
  inputs_.clear();
}

namespace internal {

void VariableNode::destroy() noexcept {
  release_creator();
  set_grad({}, false);
  if (alias_of) release(alias_of);
  delete this;
}

void VariableNode::release_creator() noexcept {
  if (creator == nullptr) return;
  {
    const FunctionNode::OutputLock lock(*creator);
    auto& outputs = creator->outputs_;
    if (std::size_t(output_index) < outputs.size() && outputs[std::size_t(output_index)] == this)
      outputs[std::size_t(output_index)] = nullptr;
  }
  autograd::release(std::exchange(creator, nullptr));
  rank = 0;
}

void VariableNode::set_creator(FunctionNode* f, int index) noexcept {
  if (creator != nullptr) {
    release_creator();
    leave_run();
  }
  if (f != nullptr) {
    retain(f);
    creator = f;
    output_index = index;
    rank = f->rank() + 1;
    const FunctionNode::OutputLock lock(*f);
    if (f->outputs_.size() <= std::size_t(index)) f->outputs_.resize(std::size_t(index) + 1);
    f->outputs_[std::size_t(index)] = this;
  }
}

void VariableNode::leave_run() noexcept {
  run = 0;
  if (std::exchange(held_by_run, false)) static_cast<void>(Access::adopt(this));
  if (!hold()) set_grad({}, false);
}

Variable VariableNode::handle() noexcept { return Access::adopt(try_retain(handles) ? this : nullptr); }

GraphMode graph_mode_of(std::span<const Variable> inputs) {
  bool on = false, off = false, wanted = inputs.empty();
  for (const Variable& v : inputs) {
    const VariableNode* n = Access::node(v);
    if (n == nullptr || !n->data) [[unlikely]]
      catena::fail<catena::TypeError>("apply", "input ", &v - inputs.data(),
                                      n == nullptr ? " is a null Variable" : " is a parameter that has no data yet");
    on |= n->volatile_flag == ON;
    off |= n->volatile_flag == OFF;
    wanted |= n->requires_grad;
  }
  if (on && off) [[unlikely]]
    aggregate_flags(std::initializer_list<Flag>{ON, OFF});
  const bool graph = !on && wanted && (off || modes().enable_backprop);
  // A result without a graph needs no gradient: none could pass through it. A volatile result keeps the property, which
  // its flag outweighs.
  return {on ? ON : off ? OFF : AUTO, wanted && (on || graph), graph};
}

}  // namespace internal

// ---- application --------------------------------------------------------------------------------

std::string_view FunctionNode::input_names() const { return {}; }
void FunctionNode::check_type_forward(const type_check::TypeInfoTuple&) const {}

Variables FunctionNode::backward(const Targets& targets, const Variables&) { return Variables(targets.size()); }

namespace {

// Returns the k-th word of the names, or nothing.
std::string_view word(std::string_view names, int k) {
  for (; k > 0; --k) {
    const std::size_t space = names.find(' ');
    if (space == names.npos) return {};
    names.remove_prefix(space + 1);
  }
  return names.substr(0, names.find(' '));
}

// Returns a hint for errors about dtypes: "x is float64, W float32: x.astype(float32)". Empty for other errors.
std::string cure_of(const catena::InvalidType& e, const type_check::TypeInfoTuple& types, std::string_view names) {
  const std::string& expect = e.expect();
  if (expect.find(".dtype") == expect.npos) return {};
  const auto line = [](const auto&... parts) { return catena::concat("\n", parts...); };
  if (const std::size_t kind = expect.find("].dtype.kind == "); kind != expect.npos && !names.empty()) {
    const int i = expect[kind - 1] - '0';
    const std::string_view name = word(names, i);
    const char* const to = expect[kind + 16] == 'f' ? "float32" : "int32";
    return line(name, " is ", types.dtype(std::size_t(i)), ": ", name, ".astype(", to, ")");
  }
  if (names.empty()) names = "x y z";
  for (int k = 1; k < int(types.count()); ++k) {
    const Dtype a = types.dtype(0), b = types.dtype(std::size_t(k));
    if (a == b || !catena::is_floating(a) || !catena::is_floating(b)) continue;
    const std::string_view first = word(names, 0), other = word(names, k);
    const bool convert_other = a == Dtype::float32;
    return line(first, " is ", a, ", ", other, " ", b, ": ", convert_other ? other : first, ".astype(",
                convert_other ? a : b, ")");
  }
  return {};
}

}  // namespace

namespace {
// Replaces in_types[0], in_types[1]... by the names of these inputs: x.shape[0] == t.shape[0].
std::string with_names(const std::string& expect, std::string_view names) {
  constexpr std::string_view before = "in_types[";
  std::string text;
  std::size_t from = 0;
  for (std::size_t at; (at = expect.find(before, from)) != expect.npos; from = expect.find(']', at) + 1) {
    int k = 0;
    for (std::size_t i = at + before.size(); expect[i] >= '0' && expect[i] <= '9'; ++i) k = 10 * k + (expect[i] - '0');
    const std::string_view name = word(names, k);
    text.append(expect, from, at - from);
    if (name.empty()) text.append(expect, at, expect.find(']', at) + 1 - at);
    else text += name;
  }
  return text.append(expect, from);
}

[[noreturn]] void fail_types(const catena::InvalidType& e, std::string_view label,
                             const type_check::TypeInfoTuple& types, std::string_view names) {
  const std::string expect = with_names(e.expect(), names),
                    prefix = catena::concat("Invalid operation is performed in: ", label, " (Forward)",
                                            cure_of(e, types, names), "\n\n");
  if (const auto* axis = dynamic_cast<const catena::InvalidAxis*>(&e))
    throw catena::InvalidAxis(expect, e.actual(), axis->axis(), axis->ndim(), prefix);
  throw catena::InvalidType(expect, e.actual(), prefix);
}
}  // namespace

void FunctionNode::check_types(const type_check::TypeInfoTuple& in_types) const {
  try {
    check_type_forward(in_types);
  } catch (const catena::InvalidType& e) {
    fail_types(e, label(), in_types, input_names());
  }
}

namespace internal {

void check_input_types(std::string_view label, const Variables& inputs,
                       const catena::Function<void(const type_check::TypeInfoTuple&)>& check, std::string_view names) {
  graph_mode_of(inputs);  // throws for null inputs
  if (!is_type_check_enabled()) return;
  Arrays arrays;
  for (const Variable& v : inputs) arrays.push_back(v.data());
  autocast_checked(arrays);
  const type_check::TypeInfoTuple types(std::as_const(arrays));
  try {
    check(types);
  } catch (const catena::InvalidType& e) {
    fail_types(e, label, types, names);
  }
}

void expect_axes(const type_check::TypeInfoTuple& in_types, const Axes& axes, bool adds_one) {
  using namespace type_check;
  for (const std::int64_t a : axes.values()) try {
      const auto axis = variable(a, "axis");
      if (a >= 0 && adds_one) expect(axis <= in_types[0].ndim);
      else if (a >= 0) expect(axis < in_types[0].ndim);
      else if (adds_one) expect(-in_types[0].ndim - 1 <= axis);
      else expect(-in_types[0].ndim <= axis);
    } catch (const catena::InvalidType& e) {
      throw catena::InvalidAxis(e.expect(), e.actual(), a, in_types.shape(0).size() + adds_one);
    }
}

}  // namespace internal

FunctionNode::Pass::~Pass() {
  for (VariableNode* n : {leaf, grad})
    if (n != nullptr) internal::release(n);
}

FunctionNode::Extras& FunctionNode::extras() {
  if (!extras_) extras_ = catena::Owned<Extras>(new Extras);
  return *extras_;
}

void FunctionNode::fail_nan(const char* where) const {
  std::string text = catena::concat("NaN is detected on ", where, " computation of ", label());
  if (!stack().empty()) text += "\nStacktrace of the function is below:\n" + stack();
  throw catena::RuntimeError(text);
}

// The name is that of the variable, if it has one, else the function's name for that input.
std::string FunctionNode::describe(const char* what, int index, VariableNode* n) const {
  const Variable held = n != nullptr ? n->hold() : Variable();
  std::string name = held ? held.name() : "";
  if (name.empty() && std::string_view(what) == "input") name = word(input_names(), index);
  return name.empty() ? catena::concat(what, " ", index) : catena::concat(what, " ", index, " (", name, ")");
}

void FunctionNode::fail_changed(const Array& a, std::string_view what) const {
  if (InPlaceChanges::are_allowed()) return;
  std::string text = catena::concat(label(), ": ", what, ", of shape ", a.shape(),
                                    ", was changed in place between forward and backward, which needs its values of "
                                    "then; change a copy, or call backward first (within "
                                    "autograd::allow_in_place_changes() it computes with the new values)");
  if (!stack().empty()) text += "\nStacktrace of the function is below:\n" + stack();
  throw catena::RuntimeError(text);
}

namespace {
bool contains_nan(const Array& a) { return a && catena::is_floating(a.dtype()) && has_nan(a); }
}  // namespace

Arrays FunctionNode::run_forward_with_hooks(const Arrays& in) {
  internal::HookedCall call(*this, internal::merged_hooks(local_function_hooks()));
  call.before([&](FunctionHook& h) { h.forward_preprocess(*this, in); });
  Arrays out = forward(in);
  call.after([&](FunctionHook& h) { h.forward_postprocess(*this, in); });
  return out;
}

Arrays FunctionNode::run_forward(const Arrays& in) {
  const internal::Modes& modes = internal::modes();
  if (is_debug() && !modes.in_backward_rule) extras().stack = internal::capture_stack();
  if (internal::checks_types(modes)) check_types(type_check::TypeInfoTuple(in));
  const bool hooked =
      !modes.in_backward_rule && (internal::thread_hooks() != nullptr || !local_function_hooks().empty());
  const internal::DefaultDeviceScope current = internal::scope_of(in);
  Arrays out = hooked ? run_forward_with_hooks(in) : forward(in);
  if (is_debug() && !modes.in_backward_rule && std::any_of(out.begin(), out.end(), contains_nan)) fail_nan("forward");
  return out;
}

void FunctionNode::start() {
  if (applied_) {
    catena::check<catena::RuntimeError>(is_chainer_function_, label(),
                                        "this function node was applied before; one node is one call: make another");
    drop_inputs();
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      VariableNode* n = lock_output(i);
      if (n == nullptr) continue;
      n->leave_run();
      internal::release(n);
    }
    // The earlier outputs still have this node as their creator, but are removed from its list.
    const OutputLock lock(*this);
    outputs_.clear();
  }
  applied_ = true;
  retained_inputs_.clear();
  retained_outputs_.clear();
}

Variables FunctionNode::apply(const Variables& given) try {
  const std::optional<Variables> converted =
      internal::modes().autocast != nullptr ? internal::autocast_inputs(label(), given) : std::nullopt;
  const Variables& inputs = converted ? *converted : given;
  const internal::GraphMode mode = internal::graph_mode_of(inputs);
  start();
  Arrays in;
  in.reserve(inputs.size());
  for (const Variable& v : inputs) in.push_back(Access::node(v)->data);
  for (std::size_t i = 1; i < in.size(); ++i)
    if ((in[i]->owner != in[0]->owner || in[i].device() != in[0].device()) && !allows_mixed_devices()) [[unlikely]]
      check_same_device(label(), in);
  const Arrays out = run_forward(in);
  if (mode.graph) {
    connect_inputs(inputs, in);
    fill_retained(in, out);
  }
  Variables result;
  result.reserve(out.size());
  for (std::size_t k = 0; k < out.size(); ++k) {
    catena::check<catena::TypeError>(bool(out[k]), "apply", "forward returned a null array");
    result.push_back(connect_output(mode, int(k), out[k]));
  }
  return result;
} catch (...) {
  catena::rethrow_standard([this] { return label(); });
}

Variable FunctionNode::connect_single(const internal::GraphMode& mode, std::span<const Variable> inputs,
                                      const Arrays& in, const Array& out) {
  applied_ = true;
  connect_inputs(inputs, in);
  for (Retained& r : retained_inputs_) r.keep(in[std::size_t(r.index)]);
  for (Retained& r : retained_outputs_) r.keep(out);
  return connect_output(mode, 0, out);
}

void FunctionNode::connect_inputs(std::span<const Variable> inputs, const Arrays& in) {
  inputs_.reserve(inputs.size());
  rank_ = 0;
  recomputation_ = internal::modes().recomputation;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    VariableNode* n = Access::node(inputs[i])->graph_node();
    n->dtype = in[i].dtype();
    n->device = in[i].device();
    if (const Shape& s = in[i].shape();
        n->shape.size() != std::size_t(s.size()) || !std::equal(s.begin(), s.end(), n->shape.begin())) {
      n->shape.clear();
      for (const std::int64_t d : s) n->shape.push_back(d);
    }
    retain(n);
    inputs_.push_back(n);
    rank_ = std::max(rank_, n->rank);
  }
}

Variable FunctionNode::connect_output(const internal::GraphMode& mode, int index, const Array& data) {
  auto* n = new VariableNode;
  Variable v = Access::adopt(n);
  n->data = data;
  n->volatile_flag = mode.flag;
  n->requires_grad = mode.requires_grad;
  if (mode.graph) {  // sets the creator without the lock: no other thread has this output yet
    retain(this);
    n->creator = this;
    n->output_index = index;
    n->rank = rank_ + 1;
    outputs_.push_back(n);
  }
  return v;
}

void FunctionNode::fill_retained(const Arrays& in, const Arrays& out) {
  if (is_chainer_function_) {
    retained_inputs_.clear();
    for (std::size_t i = 0; i < in.size(); ++i) retained_inputs_.push_back({int(i), 0, {}});
  }
  for (Retained& r : retained_inputs_) {
    catena::check<catena::IndexError>(r.index >= 0 && std::size_t(r.index) < in.size(), "retain_inputs",
                                      "there is no input ", r.index);
    r.keep(in[std::size_t(r.index)]);
  }
  for (Retained& r : retained_outputs_) {
    catena::check<catena::IndexError>(r.index >= 0 && std::size_t(r.index) < out.size(), "retain_outputs",
                                      "there is no output ", r.index);
    r.keep(out[std::size_t(r.index)]);
  }
}

// ---- retained values ----------------------------------------------------------------------------

void FunctionNode::retain_inputs(std::initializer_list<int> indices) {
  for (const int i : indices) retained_inputs_.push_back({i, 0, {}});
}
void FunctionNode::retain_outputs(std::initializer_list<int> indices) {
  for (const int i : indices) retained_outputs_.push_back({i, 0, {}});
}

namespace {
// Returns a handle to `data` that represents the node `aliased` in graphs. The variable of that node may be destroyed
// by now, or hold another array.
Variable alias(VariableNode* aliased, const Array& data) {
  auto* n = new VariableNode;
  Variable v = Access::adopt(n);
  n->data = data;
  if (aliased != nullptr) {
    n->requires_grad = aliased->requires_grad;
    n->rank = aliased->rank;
    retain(aliased);
    n->alias_of = aliased;
  }
  return v;
}
}  // namespace

Variable FunctionNode::retained_input(int index) const {
  for (const Retained& r : retained_inputs_) {
    if (r.index != index || !r.array) continue;
    if (internal::version_of(r.array) != r.version) [[unlikely]]
      fail_changed(r.array, describe("input", index, inputs_[std::size_t(index)]));
    return alias(needs_double_backprop() ? inputs_[std::size_t(index)] : nullptr, r.array);
  }
  catena::fail<catena::RuntimeError>(label(), "input ", index, " was not retained by forward");
}

Variable FunctionNode::retained_output(int index) {
  for (const Retained& r : retained_outputs_) {
    if (r.index != index || !r.array) continue;
    if (internal::version_of(r.array) != r.version) [[unlikely]] {
      VariableNode* y = lock_output(std::size_t(index));
      const std::string what = describe("output", index, y);
      if (y != nullptr) internal::release(y);
      fail_changed(r.array, what);
    }
    if (!needs_double_backprop()) return alias(nullptr, r.array);
    VariableNode* y = lock_output(std::size_t(index));
    if (y == nullptr) {  // the variable is destroyed: a new one takes its place among the outputs
      y = new VariableNode;
      y->data = r.array;
      Variable fresh = Access::adopt(y);
      y->set_creator(this, index);
      return fresh;
    }
    Variable v = alias(y, r.array);
    internal::release(y);
    return v;
  }
  catena::fail<catena::RuntimeError>(label(), "output ", index, " was not retained by forward");
}

Shape FunctionNode::input_shape(int i) const {
  const auto& s = inputs_[std::size_t(i)]->shape;
  return Shape(std::span<const std::int64_t>(s));
}
Dtype FunctionNode::input_dtype(int i) const { return inputs_[std::size_t(i)]->dtype; }

// ---- the graph around a node --------------------------------------------------------------------

VariableNode* FunctionNode::lock_output(std::size_t i) const noexcept {
  const OutputLock lock(*this);
  VariableNode* n = i < outputs_.size() ? outputs_[i] : nullptr;
  return n != nullptr && internal::try_retain(n->refs) ? n : nullptr;
}

bool FunctionNode::lists_output(const VariableNode* n) const noexcept {
  return std::size_t(n->output_index) < outputs_.size() && outputs_[std::size_t(n->output_index)] == n;
}

Variable FunctionNode::input(std::size_t i) const { return i < inputs_.size() ? inputs_[i]->handle() : Variable(); }

Variable FunctionNode::output(std::size_t i) const {
  VariableNode* n = lock_output(i);
  if (n == nullptr) return {};
  Variable v = n->handle();
  internal::release(n);
  return v;
}

void FunctionNode::unchain() {
  retain(this);  // its outputs may hold the only references to it
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    VariableNode* n = lock_output(i);
    if (n == nullptr) continue;
    n->set_creator(nullptr, 0);
    internal::release(n);
  }
  drop_inputs();
  retained_inputs_.clear();
  retained_outputs_.clear();
  release(this);
}

const std::string& FunctionNode::stack() const noexcept {
  static const std::string none;
  return extras_ ? extras_->stack : none;
}

void FunctionNode::add_hook(catena::Shared<FunctionHook> hook, const std::string& name) {
  catena::check<catena::TypeError>(hook != nullptr, "add_hook", "the hook is null");
  const std::string key = name.empty() ? hook->name() : name;
  for (const auto& entry : local_function_hooks())
    catena::check<catena::KeyError>(entry.first != key, "add_hook", "a hook named ", key, " is registered already");
  extras().hooks.emplace_back(key, std::move(hook));
}

void FunctionNode::delete_hook(const std::string& name) {
  auto& hooks = extras().hooks;
  const auto at = std::find_if(hooks.begin(), hooks.end(), [&](const auto& entry) { return entry.first == name; });
  catena::check<catena::KeyError>(at != hooks.end(), "delete_hook", "no hook is named ", name);
  hooks.erase(at);
}

const internal::NamedHooks& FunctionNode::local_function_hooks() const noexcept {
  static const internal::NamedHooks none;
  return extras_ ? extras_->hooks : none;
}

}  // namespace autograd
