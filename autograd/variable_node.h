// VariableNode: the object to which Variables and function nodes refer. For the engine, graph dumps and tests; users
// have Variables.
//
// Two counts avoid reference cycles. `handles` counts Variables. When it reaches 0, the array and the gradient are
// released. With double backprop the graph of a gradient refers back to this node; the release of the gradient breaks
// this cycle. `refs` counts references: 1 for each function that has this node as an input and for each alias, and
// kHandles for all handles together. Example: a node with three Variables that is an input of two functions has
// handles = 3 and refs = kHandles + 2; after its last Variable is destroyed, the array and the gradient are released,
// and refs = 2. When `refs` reaches 0, the node is destroyed and its reference to its creator is released. The name
// exists as long as the node, so graphs show it even when no Variable is left.
//
// The last handle may be destroyed on any thread, also while an engine works on the graph. Code that reads or writes
// data or grad and has no handle therefore must call hold() first.
#pragma once

#include <cstdint>
#include <string>

#include <catena/autograd/variable.h>
#include <catena/kernels/base/atomic.h>
#include <catena/kernels/base/free_list.h>
#include <catena/kernels/base/pointers.h>

namespace autograd::internal {

class GradHooks;

struct CATENA_EXPORT VariableNode : catena::internal::FromFreeList {
  static constexpr std::uint32_t kHandles = 1u << 31;
  catena::Atomic<std::uint32_t> handles{1}, refs{kHandles};
  Array data;
  VariableNode* grad = nullptr;      // owning handle
  FunctionNode* creator = nullptr;   // owning
  VariableNode* alias_of = nullptr;  // owning; see FunctionNode::retained_input
  catena::Owned<std::string> name;
  catena::Owned<GradHooks> grad_hooks;  // null: none
  std::uint64_t run = 0;                // the backward run that wrote `grad` of an intermediate variable
  std::int32_t rank = 0;
  std::int32_t output_index = 0;
  Flag volatile_flag = AUTO;
  bool requires_grad = true;
  bool grad_shared = false;  // `grad` may share its array with other variables: never write into it
  // Whether the variable is a parameter of a link, and whether an optimizer updates it (the optimizer sets this). The
  // gradient of a parameter that no optimizer updates is lost.
  bool is_parameter = false, has_optimizer = false;
  bool retains_grad = false;  // the gradient stays after backward, although a function made the variable
  bool held_by_run = false;   // the run that wrote `grad` has a handle, until it has read `grad`
  // The dtype, device and shape of data when it was used as an input; data may be released before the gradient is
  // computed.
  Dtype dtype = Dtype::float32;
  Device device;
  catena::SmallVector<std::int64_t, 4> shape;

  void destroy() noexcept;

  // Returns the node that represents this node in graphs: the aliased node, or this one if it is no alias.
  VariableNode* graph_node() noexcept { return alias_of ? alias_of : this; }
  Variable handle() noexcept;  // null if no Variable is left
  // Like handle(); after it has returned null, no other thread accesses data or grad.
  Variable hold() noexcept;
  Variable grad_handle() noexcept;
  void set_grad(const Variable& g, bool shared);
  void set_creator(FunctionNode* f, int index) noexcept;  // null: the node becomes a leaf
  // Called when the creator no longer lists this node as an output, by a caller that has a reference. A backward run
  // then would not find the gradient that it wrote here, so its handle is released. Without handles, the gradient is
  // released, too.
  void leave_run() noexcept;
  void release_creator() noexcept;
  bool is_leaf() const noexcept { return creator == nullptr; }
};

inline void retain(VariableNode* n) noexcept { n->refs.fetch_add(1, catena::MemoryOrder::relaxed); }
inline void release(VariableNode* n, std::uint32_t count = 1) noexcept {
  if (n->refs.fetch_sub(count, catena::MemoryOrder::acq_rel) == count) n->destroy();
}
// Takes a reference only if the count is not 0, because another thread may be destroying an output of a function.
inline bool try_retain(catena::Atomic<std::uint32_t>& count) noexcept {
  std::uint32_t n = count.load(catena::MemoryOrder::relaxed);
  while (n != 0)
    if (count.compare_exchange_weak(n, n + 1, catena::MemoryOrder::acq_rel)) return true;
  return false;
}

// Gives the engine access to the private members of Variable.
struct Access {
  static VariableNode* node(const Variable& v) noexcept { return v.node_; }
  static Variable adopt(VariableNode* n) noexcept { return Variable(n); }
  static void forget(Variable& v) noexcept { v.node_ = nullptr; }  // the reference is not released
};

// A list of two arguments of a call that does not count references, because the arguments outlive the call.
class BorrowedPair {
 public:
  BorrowedPair(const Variable& a, const Variable& b) noexcept
      : list_{Access::adopt(Access::node(a)), Access::adopt(Access::node(b))} {}
  ~BorrowedPair() {
    for (Variable& v : list_) Access::forget(v);
  }
  BorrowedPair(const BorrowedPair&) = delete;
  BorrowedPair& operator=(const BorrowedPair&) = delete;
  operator std::span<const Variable>() const noexcept { return list_; }

 private:
  Variable list_[2];
};

// Returns Variable::label() for data of this shape and dtype.
CATENA_EXPORT std::string label_of(const Shape& shape, Dtype dtype);

// Makes a leaf with volatile AUTO of an array.
inline Variable constant_variable(const Array& a) {
  auto* n = new VariableNode;
  n->data = a;
  return Access::adopt(n);
}

// Throws a TypeError or ValueError (with Chainer's texts) if `grad` cannot be the gradient of `data`. `data` is null if
// it was released; dtype, shape and device are those at the time of use. `function` is the function that made the
// gradient; null if the user made it.
CATENA_EXPORT void check_grad(const FunctionNode* function, const Array& data, Dtype dtype, const Shape& shape,
                              Device device, const Array& grad);

}  // namespace autograd::internal
