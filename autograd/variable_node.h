// VariableNode: the object that Variables refer to and that function nodes have as inputs. For the engine, graph dumps
// and tests; users hold Variables.
//
// Two counts avoid reference cycles. `handles` counts Variables: when it reaches 0, the array and the gradient are
// released, so a gradient whose own graph leads back here (double backprop) does not keep itself alive. `refs`
// counts functions that have this node as an input (plus kHandles until the handles are gone and what they held is
// released): when it reaches 0, the node is destroyed and its reference to its creator is released. The name lives as
// long as the node: graphs of variables that nobody holds any more show it.
//
// The last handle may be dropped on any thread, also while an engine works on the graph. Code that reads or
// writes data or grad without a handle of its own therefore calls hold() first.
#pragma once

#include <cstdint>
#include <string>

#include <catena/autograd/variable.h>
#include <catena/kernels/base/atomic.h>
#include <catena/kernels/base/pointers.h>

namespace autograd::internal {

struct CATENA_EXPORT VariableNode {
  static constexpr std::uint32_t kHandles = 1u << 31;
  catena::Atomic<std::uint32_t> handles{1}, refs{kHandles};
  Array data;
  VariableNode* grad = nullptr;      // owning handle
  FunctionNode* creator = nullptr;   // owning
  VariableNode* alias_of = nullptr;  // owning; see FunctionNode::retained_input
  catena::Owned<std::string> name;
  std::uint64_t run = 0;  // the backward run that wrote `grad` of an intermediate variable
  std::int32_t rank = 0;
  std::int32_t output_index = 0;
  Flag volatile_flag = AUTO;
  bool requires_grad = true;
  bool grad_shared = false;  // `grad` may share its array with other variables: never write into it
  // A parameter of a link; an optimizer that updates it says so. A gradient of one without the other is lost.
  bool is_parameter = false, has_optimizer = false;
  bool held_by_run = false;  // the run that wrote `grad` has a handle, until it has read `grad`
  // The dtype, device and shape of data when it was used as an input; data may be released before the gradient arrives.
  Dtype dtype = Dtype::float32;
  Device device;
  catena::SmallVector<std::int64_t, 4> shape;

  void destroy() noexcept;

  static void* operator new(std::size_t n);
  static void operator delete(void* p, std::size_t n) noexcept;

  // The node that stands for this one in graphs.
  VariableNode* root() noexcept { return alias_of ? alias_of : this; }
  Variable handle() noexcept;  // null when no Variable is left
  // The same; after it returned null, no other thread touches data and grad any more.
  Variable hold() noexcept;
  Variable grad_handle() noexcept;
  void set_grad(const Variable& g, bool shared);
  void set_creator(FunctionNode* f, int index) noexcept;  // null: the node becomes a root
  bool is_leaf() const noexcept { return creator == nullptr; }
};

inline void retain(VariableNode* n) noexcept { n->refs.fetch_add(1, catena::MemoryOrder::relaxed); }
inline void release(VariableNode* n, std::uint32_t count = 1) noexcept {
  if (n->refs.fetch_sub(count, catena::MemoryOrder::acq_rel) == count) n->destroy();
}
// An output of a function may be in destruction on another thread: takes a reference only if the count is not 0.
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
  static void forget(Variable& v) noexcept { v.node_ = nullptr; }  // does not release the reference
};

// Two arguments of a call as a list that does not count references: the arguments outlive the call.
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

// Variable::label() of data with that shape and dtype.
CATENA_EXPORT std::string label_of(const Shape& shape, Dtype dtype);

// An array as a root with volatile AUTO.
inline Variable constant_variable(const Array& a) {
  auto* n = new VariableNode;
  n->data = a;
  return Access::adopt(n);
}

// TypeError or ValueError (with Chainer's texts) when an array cannot be the gradient of `data`, which had this dtype,
// shape and device when it was used (null: released since). `function` is the function that made it; null when the user
// did.
CATENA_EXPORT void check_grad(const FunctionNode* function, const Array& data, Dtype dtype, const Shape& shape,
                              Device device, const Array& grad);

}  // namespace autograd::internal
