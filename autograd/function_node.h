// FunctionNode: one application of a differentiable function. The backward rule is written on Variables, so every
// derivative can be differentiated again. A class may have a second rule, on arrays, which calls a fused kernel;
// backward uses it if needs_double_backprop() returns false. Functions on raw arrays in the style of Chainer derive
// from Function (function.h).
//
//   struct Exp : FunctionNode {
//     std::string label() const override { return "exp"; }
//     Arrays forward(const Arrays& x) override { retain_outputs({0}); return {apply(catena::kernels::exp, {x[0]})}; }
//     Variables backward(const Targets&, const Variables& gy) override { return {gy[0] * retained_output(0)}; }
//   };
//   Variable exp(const Variable& x) { return apply_node<Exp>({x})[0]; }
//
// Plain elementwise functions do not need a class: see functions/elementwise.h, where one is an entry of a table.
//
// Thread safety: a graph belongs to one thread at a time; its variables may be destroyed on any thread.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include <catena/autograd/operators.h>
#include <catena/autograd/type_check.h>
#include <catena/autograd/variable.h>
#include <catena/kernels/base/atomic.h>
#include <catena/kernels/base/free_list.h>
#include <catena/kernels/base/pointers.h>
#include <catena/kernels/registry/families.h>

namespace autograd {

class BackwardEngine;
class FunctionHook;
namespace internal {
class BackwardWatch;
}
using Targets = catena::SmallVector<int, 4>;  // indices of the inputs whose gradients are computed

namespace internal {

using NamedHooks = std::vector<std::pair<std::string, catena::Shared<FunctionHook>>>;

// The graph mode of a call, determined by the flags of the inputs and the mode of the thread.
struct GraphMode {
  Flag flag = AUTO;           // of the outputs
  bool requires_grad = true;  // of the outputs
  bool graph = false;
};
// Throws a TypeError that names the input if one is null, and a ValueError if ON and OFF are mixed.
CATENA_EXPORT GraphMode graph_mode_of(std::span<const Variable> inputs);

// Returns the number of writes to the array's memory that a graph made before them does not permit: the low bits of the
// version.
inline std::uint32_t version_of(const Array& a) noexcept {
  return a->storage ? static_cast<std::uint32_t>(a->storage->version.load(catena::MemoryOrder::relaxed)) : 0;
}
// Returns the number of updates by optimizers (OptimizerWrite): the high bits of the version.
inline std::uint32_t updates_of(const Array& a) noexcept {
  // The highest bit is the array library's mark for memory whose address was given out.
  return a->storage ? static_cast<std::uint32_t>(a->storage->version.load(catena::MemoryOrder::relaxed) >> 32) << 1 >> 1
                    : 0;
}
// While an object of this class exists, writes to the array count as an optimizer's update. Earlier graphs permit
// updates: their rules compute with the new values. The version of the memory changes in any case.
class OptimizerWrite {
 public:
  explicit OptimizerWrite(const Array& a) : array_(a), before_(version_of(a)) {}
  OptimizerWrite(OptimizerWrite&&) noexcept = default;
  OptimizerWrite(const OptimizerWrite&) = delete;
  OptimizerWrite& operator=(const OptimizerWrite&) = delete;
  ~OptimizerWrite() {
    if (!array_ || array_->storage == nullptr) return;
    catena::Atomic<std::uint64_t>& version = array_->storage->version;
    const std::uint64_t updates = (version.load(catena::MemoryOrder::relaxed) >> 32) + 1;
    version.store(updates << 32 | before_, catena::MemoryOrder::relaxed);
  }

 private:
  Array array_;
  std::uint32_t before_;
};

}  // namespace internal

class CATENA_EXPORT FunctionNode : public catena::internal::FromFreeList {
 public:
  // `FunctionNode::type_check_enable = false` is set_type_check(false) of flag.h.
  static constexpr internal::TypeCheckEnable type_check_enable{};

  FunctionNode() = default;
  FunctionNode(const FunctionNode&) = delete;
  FunctionNode& operator=(const FunctionNode&) = delete;
  virtual ~FunctionNode();

  // Checks types, runs hooks and forward, and builds the graph if the inputs' flags and the mode of the thread require
  // one. RuntimeError if the node was applied before.
  Variables apply(const Variables& inputs);

  virtual std::string label() const = 0;
  // The names of the inputs in error messages, separated by spaces: "x W b". If empty, messages give positions.
  virtual std::string_view input_names() const;
  virtual void check_type_forward(const type_check::TypeInfoTuple& in_types) const;
  virtual Arrays forward(const Arrays& inputs) = 0;
  // Returns one gradient per target, in order; null: no gradient flows there. grad_outputs are null where absent, never
  // allocated zeros. Must not write into the arrays of grad_outputs (except as gradient_is_spare allows) or of retained
  // values. Not called if no Variable refers to an input or to an ancestor of an input, because no gradient could then
  // be read.
  virtual Variables backward(const Targets& targets, const Variables& grad_outputs);

  int rank() const noexcept { return rank_; }
  std::size_t num_inputs() const noexcept { return inputs_.size(); }
  std::size_t num_outputs() const noexcept { return outputs_.size(); }
  std::uint32_t recomputation() const noexcept { return recomputation_; }  // see internal::Modes
  void unchain();                             // outputs lose their creator, inputs are dropped
  const std::string& stack() const noexcept;  // the call stack of the application, in debug mode

  // The graph around this node. input_node is null after unchain; output is null if no Variable of that output exists.
  internal::VariableNode* input_node(std::size_t i) const noexcept { return i < inputs_.size() ? inputs_[i] : nullptr; }
  Variable input(std::size_t i) const;  // null if no Variable of it exists
  Variable output(std::size_t i) const;

  // Hooks of this node only, by name, in order. They run after the hooks of the thread; a hook with the name of a
  // thread hook replaces it. TypeError for null, KeyError for a duplicate or unknown name.
  void add_hook(catena::Shared<FunctionHook> hook, const std::string& name = "");
  void delete_hook(const std::string& name);
  const internal::NamedHooks& local_function_hooks() const noexcept;

 protected:
  // To be called in forward with the arrays that backward will read. All other arrays are freed with their variables.
  void retain_inputs(std::initializer_list<int> indices);
  void retain_outputs(std::initializer_list<int> indices);
  // To be called in backward: returns the retained value as a variable of the graph, so that the rule can be
  // differentiated. RuntimeError if the array was written after forward, unless by an optimizer or within
  // allow_in_place_changes() (debug.h).
  Variable retained_input(int index) const;
  Variable retained_output(int index);
  void get_retained_inputs() const = delete;  // Arrays forward(const Arrays&) override; retained_input(0)
  // Does the same check for an array that is neither input nor output. `version` is version_of(a) at the time of
  // forward.
  void check_unchanged(const Array& a, std::uint32_t version, std::string_view what) const {
    if (internal::version_of(a) != version) [[unlikely]]
      fail_changed(a, what);
  }
  // Shape and dtype of input i, which are available without its data.
  Shape input_shape(int i) const;
  Dtype input_dtype(int i) const;
  // Calls autograd::apply, which the member function of that name would hide in derived classes.
  static Array apply(const catena::KernelDef& kernel, std::initializer_list<Operand> inputs) {
    return autograd::apply(kernel, inputs);
  }
  // False if the gradients will not be differentiated again, so that a fused backward kernel may be used.
  static bool needs_double_backprop() noexcept { return internal::modes().double_backprop; }
  // To be called in backward: true if this run made the gradient of the only output and has the only reference to its
  // memory, so that the rule may write its result there.
  bool gradient_is_spare() const noexcept { return gradient_is_spare_; }

  // True if inputs and outputs may be on several devices (copies between devices).
  virtual bool allows_mixed_devices() const noexcept { return false; }

  // For functions that run forward without a node if no graph is needed (functions/elementwise.h).
  void check_types(const type_check::TypeInfoTuple& in_types) const;  // adds "Invalid operation is performed in: ..."
  Variable connect_single(const internal::GraphMode& mode, std::span<const Variable> inputs, const Arrays& in,
                          const Array& out);

 private:
  friend class Variable;
  friend class BackwardEngine;
  friend class internal::BackwardWatch;
  friend class Function;
  friend struct internal::VariableNode;
  friend void retain(FunctionNode* f) noexcept {
    if (f) f->refs_.fetch_add(1, catena::MemoryOrder::relaxed);
  }
  // iterative, so that chains of any length are destroyed without recursion
  CATENA_EXPORT friend void release(FunctionNode* f) noexcept;

  struct Retained {
    int index;
    std::uint32_t version;
    Array array;
    void keep(const Array& a) {
      array = a;
      version = internal::version_of(a);
    }
  };
  // Record of the last backward pass from an output of this node, with which the next pass is compared. It has one
  // variable that got a gradient, if possible a parameter. From a free list, because every backward pass makes one.
  struct Pass : catena::internal::FromFreeList {
    internal::VariableNode *leaf = nullptr, *grad = nullptr;  // owning references, but no handles
    std::uint32_t grad_version = 0, updates = 0;              // versions of the memory of the gradient and of the data
    const catena::Storage* memory = nullptr;                  // the memory of the data
    Pass() = default;
    Pass(const Pass&) = delete;
    Pass& operator=(const Pass&) = delete;
    ~Pass();
  };
  struct Extras {  // rarely used members
    std::string stack;
    internal::NamedHooks hooks;
  };
  // Protects outputs_ while another thread destroys a variable.
  class OutputLock;

  void start();
  void connect_inputs(std::span<const Variable> inputs, const Arrays& in);
  Variable connect_output(const internal::GraphMode& mode, int index, const Array& data);
  void fill_retained(const Arrays& in, const Arrays& out);
  void drop_inputs() noexcept;
  internal::VariableNode* lock_output(std::size_t i) const noexcept;  // with a new reference, or null
  bool lists_output(const internal::VariableNode* n) const noexcept;
  Extras& extras();
  [[noreturn]] void fail_nan(const char* where) const;
  void fail_changed(const Array& a, std::string_view what) const;                      // unless changes are allowed
  std::string describe(const char* what, int index, internal::VariableNode* n) const;  // "input 1 (W)"
  Arrays run_forward(const Arrays& in);
  Arrays run_forward_with_hooks(const Arrays& in);

  catena::Atomic<std::uint32_t> refs_{1};
  int rank_ = 0;
  std::uint32_t recomputation_ = 0;
  std::uint64_t run_ = 0;         // the last backward run that enqueued this node
  std::uint64_t searched_ = 0;    // the last backward run that set leads_to_kept_
  bool leads_to_kept_ = false;    // true if a gradient is kept for which this node is needed
  FunctionNode* next_ = nullptr;  // link in the list of nodes to be destroyed
  mutable catena::Atomic<bool> output_lock_{false};
  bool applied_ = false;
  bool gradient_is_spare_ = false;
  // True for a Function (function.h): it retains all its inputs, and may be applied again, which removes its earlier
  // outputs from the graph.
  bool is_chainer_function_ = false;
  catena::SmallVector<internal::VariableNode*, 3> inputs_;   // owning
  catena::SmallVector<internal::VariableNode*, 2> outputs_;  // not owning: the destructor of an output clears its entry
  catena::SmallVector<Retained, 2> retained_inputs_;
  catena::SmallVector<Retained, 1> retained_outputs_;
  catena::Owned<Extras> extras_;
  catena::Owned<Pass> last_pass_;  // null: no backward pass has begun here
};

// Owning pointer to a node.
template <class F> class NodePtr {
 public:
  explicit NodePtr(F* adopt) noexcept : f_(adopt) {}
  NodePtr(NodePtr&& o) noexcept : f_(std::exchange(o.f_, nullptr)) {}
  NodePtr(const NodePtr& o) noexcept : f_(o.f_) { retain(static_cast<FunctionNode*>(f_)); }
  NodePtr& operator=(NodePtr o) noexcept {
    std::swap(f_, o.f_);
    return *this;
  }
  ~NodePtr() { release(static_cast<FunctionNode*>(f_)); }
  F* operator->() const noexcept { return f_; }
  F& operator*() const noexcept { return *f_; }
  F* get() const noexcept { return f_; }

 private:
  F* f_;
};
template <class F, class... A> NodePtr<F> make_node(A&&... a) { return NodePtr<F>(new F(std::forward<A>(a)...)); }
template <class F, class... A> Variables apply_node(const Variables& inputs, A&&... a) {
  return make_node<F>(std::forward<A>(a)...)->apply(inputs);
}

}  // namespace autograd
