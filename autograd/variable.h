// Folder autograd: the tape. It has Variable, function nodes, the backward engine, hooks, modes, type checks, gradient
// checks and the value API over arrays. Neural-network functions and links are in nn, optimizers and training loops in
// training. Arrays are accessed only through autograd/backend. autograd may include kernels; only
// autograd/ndarray_backend includes ndarray.
//
// Variable: an array with a gradient and the function that made it.
//
// A Variable is a shared handle: copies refer to the same variable (the object has the identity, as in Chainer). The
// graph consists of VariableNode (variable_node.h) and FunctionNode (function_node.h): function nodes own their input
// nodes, output nodes own their creator, and a function keeps only the arrays that it retains.
//
// An array converts to a Variable: `Variable x(a)`, `Variable x = a` and an array argument for a Variable parameter all
// make a leaf (a variable without a creator) with volatile AUTO. The leaf is part of a graph unless the mode of the
// thread or another input prevents it. No gradient is computed for a temporary Variable made in a call, because it
// could not be read.
//
// Thread safety: a graph belongs to one thread at a time. Handles may be copied and destroyed on any thread, also while
// another thread runs backward through their variables.
#pragma once

#include <concepts>
#include <iosfwd>
#include <numbers>
#include <optional>
#include <string>
#include <utility>

#include <catena/autograd/array.h>
#include <catena/autograd/axis_options.h>
#include <catena/autograd/flag.h>
#include <catena/autograd/grad_hook.h>
#include <catena/autograd/index_item.h>
#include <catena/autograd/option_types.h>
#include <catena/autograd/torch_member_lists.h>
#include <catena/kernels/base/arguments.h>
#include <catena/kernels/base/function.h>
#include <catena/kernels/base/in_place_members.h>

namespace autograd {

class FunctionNode;
class Variable;
namespace internal {
struct VariableNode;
struct Access;
struct ask_optimizer;
struct call_requires_grad_ {
  call_requires_grad_(bool);
};
// The functions of torch_functions.h that are members, for calls with arguments of these types.
template <class... A> struct TensorFunctions;
template <class V> struct SparseFunctions;  // of ndarray_backend/sparse.h
template <class O> struct OptionFunctions;  // of ndarray_backend/torch_options.h, with options of type O
// The rate of the exponential numbers of geometric_, which are rounded up. ValueError for a p outside of (0, 1).
CATENA_EXPORT double geometric_rate(double p);
}  // namespace internal

// An array of the framework or of an array library that is linked.
template <class T>
concept ArrayLike = std::derived_from<T, Array> || ForeignArray<T>;

struct VariableOptions {
  Flag volatile_ = AUTO;
  std::string name = {};
  Array grad = {};
  bool requires_grad = true;
};

struct BackwardOptions {
  bool retain_grad = false;             // keep the gradients of intermediate variables
  bool enable_double_backprop = false;  // gradients get a graph and can be differentiated again
  // The gradient with which a variable of one element starts, instead of 1 (Optimizer::loss_scaling).
  double loss_scale = 1;
  // PyTorch's names. A graph exists as long as variables of it, so backward may always be called again, with either
  // value of retain_graph; create_graph is enable_double_backprop.
  bool retain_graph = true;
  bool create_graph = false;
};

// A list of variables, as functions with several inputs or outputs take and return it.
using Variables = catena::SmallVector<Variable, 4>;
struct Sorted;
struct MinMax;
struct QRResult;
struct SlogdetResult;
struct SVDFactors;
struct TriangularSolution;
struct TriangularSolveOptions;
CATENA_EXPORT void backward(const Variable& output, const BackwardArguments& arguments);
class Extremes;
class Mask;

class Bound;
struct ClampOptions;
class IndexedVariable;

class CATENA_EXPORT Variable : public catena::InPlaceMembers<Variable> {
 public:
  Variable() noexcept = default;  // null: an absent variable, e.g. a missing gradient
  // Makes a leaf: no creator, rank 0. TypeError for a null array; options.grad is checked against data as in set_grad.
  template <ArrayLike T> Variable(const T& data) : Variable(wrap(data)) {}
  template <ArrayLike T> Variable(const T& data, const VariableOptions& options) : Variable(wrap(data)) {
    set_options(options);
  }
  // A number, as in Variable loss = 0: a float32 array of rank 0 on the current device. For another dtype, write an
  // array.
  template <class E>
  requires(std::is_arithmetic_v<E> && !std::is_same_v<E, bool>) Variable(E number)
      : Variable(arrays::full({}, Scalar(number), Dtype::float32)) {}
  Variable(const Variable& o) noexcept : node_(o.node_) {
    if (node_) add_handle();
  }
  Variable(Variable&& o) noexcept : node_(std::exchange(o.node_, nullptr)) {}
  Variable& operator=(Variable o) noexcept {
    std::swap(node_, o.node_);
    return *this;
  }
  ~Variable() {
    if (node_) drop_handle();
  }

  // false for a null Variable; independent of the value
  explicit operator bool() const noexcept { return node_ != nullptr; }
  bool defined() const noexcept { return node_ != nullptr; }
  bool is_same(const Variable& o) const noexcept { return node_ == o.node_; }
  const void* id() const noexcept { return node_; }

  const Array& data() const;  // ValueError for a null Variable, like all members below
  const Array& array() const { return data(); }
  void set_data(const Array& data);
  // Returns null if there is no gradient. set_grad stores a reference, not a copy: backward adds to that array.
  // TypeError if the backend, the kind of device or the dtype differs from that of data; ValueError if the number of
  // the device or the shape differs.
  Array grad() const;
  void set_grad(const Array& grad);
  Variable grad_variable() const;  // the gradient with its graph (after enable_double_backprop)
  void set_grad_variable(const Variable& grad);
  // Names of later versions of Chainer.
  Variable grad_var() const { return grad_variable(); }
  void set_array(const Array& array) { set_data(array); }

  FunctionNode* creator() const noexcept;  // null for leaves
  int rank() const noexcept;
  Flag volatile_flag() const noexcept;
  void set_volatile(Flag f);
  bool requires_grad() const noexcept;
  // Compilers show the type of the argument in their error message for x.requires_grad = false.
  bool requires_grad(internal::call_requires_grad_ value) const = delete;  // x.requires_grad_(false)
  // With false, no gradient is computed for this variable, and optimizers do not update it. RuntimeError for a variable
  // that a function made, because only leaves can be excluded.
  void set_requires_grad(bool requires_grad);
  // A variable has no reference to its optimizer. Compilers show this line or the type in their error messages.
  internal::ask_optimizer update_rule() const = delete;  // optimizer.update_rule(param).lr = 0.01; .set_enabled(false)
  const Variable& requires_grad_(bool requires_grad = true) const;
  const std::string& name() const;
  void set_name(const std::string& name);

  const Shape& shape() const { return present().shape(); }
  std::int64_t shape(int axis) const { return present().shape(axis); }
  int ndim() const { return present().ndim(); }
  int dim() const { return ndim(); }
  std::int64_t size() const { return present().size(); }
  std::int64_t size(int axis) const { return shape(axis); }  // as PyTorch's size()
  std::int64_t numel() const { return size(); }
  std::int64_t len() const { return present().size(); }  // number of elements, as Chainer's len()
  Dtype dtype() const { return present().dtype(); }
  Device device() const { return present().device(); }
  std::string label() const;        // "(2, 3), float32"; "float32" for 0-d data; "(4), float32" for one dimension
  std::string to_string() const;    // NAME or <var@ADDR>
  std::string repr() const;         // <variable NAME> or <variable at 0xADDR>
  std::string debug_print() const;  // header, device, volatile, backend, shape, dtype, statistics, grad

  void to_device(Device device);  // moves data and grad in place; arrays on that device are not copied
  void to_cpu() { to_device({}); }
  void to_gpu(std::optional<int> id = {});
  void cleargrad() const;
  void zero_grad() const { cleargrad(); }
  void zerograd() const;
  void copydata(const Variable& from);
  void addgrad(const Variable& from);
  void set_creator(FunctionNode* creator, int output_index = 0);
  void unset_creator() { set_creator(nullptr); }

  void backward(const BackwardOptions& options = {}) const;
  void backward(bool retain_grad) const { backward(BackwardOptions{.retain_grad = retain_grad}); }
  // From this gradient, a variable or an array of the shape of this one, in place of a grad() that was set before.
  template <class G>
  void backward(const G& gradient, const BackwardOptions& options = {}) const
      requires(std::derived_from<G, Variable> || ArrayLike<G>) {
    Variable start = *this;
    if constexpr (std::derived_from<G, Variable>) start.set_grad_variable(gradient);
    else start.set_grad(gradient);
    backward(options);
  }
  Variable detach() const;        // a leaf with the same array, which gets no gradient
  void unchain() const;           // this variable becomes a leaf
  void unchain_backward() const;  // all variables that it depends on become leaves as well; frees their memory

  // Returns the only element of the data, converted to E; ValueError if the size is not 1. double(loss) and loss.item()
  // are a TypeError for a complex number with an imaginary part, which loss.item<double>() drops.
  template <class E> E item() const { return autograd::item(present()).template to<E>(); }
  double item() const { return autograd::item(present()); }
  template <class E> explicit operator E() const requires(catena::Number<E> && !std::is_same_v<E, bool>) {
    return autograd::item(present());
  }

  // ---- differentiable functions as members ----
  // Indexing: x[0], x(0, Slice(1, 3)), x(ellipsis, newaxis), x({0, 2}). See get_item in functions/array.h.
  // x[{0, Slice(1, 3)}] is x(0, Slice(1, 3)), x[{0, 2}] the rows 0 and 2. x[0] = v writes the elements, see below.
  template <class... K>
  IndexedVariable operator()(const K&... keys) const
      requires(sizeof...(K) > 0 && (... && std::convertible_to<const K&, IndexItem>));
  template <std::convertible_to<IndexItem> K> IndexedVariable operator[](const K& key) const;
  IndexedVariable operator()(std::initializer_list<catena::Integer> list) const;
  IndexedVariable operator[](std::initializer_list<catena::Integer> list) const;
  IndexedVariable operator[](const IndexItems& items) const;
  // The reductions over axes: x.sum(), x.sum(0), x.mean({0, 1}, true). See functions/reduction.h. They are templates,
  // so that options in braces, which g++ also accepts as a list of axes, select the functions below.
#define CATENA_REDUCTION_RULE(name, ...)                                                                           \
  template <class A = Axes> Variable name(const std::type_identity_t<A>& axes = {}, bool keepdims = false) const { \
    return name##_over(axes, keepdims);                                                                            \
  }
#include <catena/autograd/reductions.inc>
#undef CATENA_REDUCTION_RULE
  // With options: x.sum({.dim = 1}), x.mean({2, 3}, {.keepdim = true}), x.var(1, {.unbiased = false}).
  Variable sum(const ReductionOptions& options) const;
  Variable sum(const Axes& axes, const ReductionOptions& options) const;
  Variable mean(const ReductionOptions& options) const;
  Variable mean(const Axes& axes, const ReductionOptions& options) const;
  Variable prod(const ReductionOptions& options) const;
  Variable prod(const Axes& axes, const ReductionOptions& options) const;
  Variable var(const VarianceOptions& options) const;
  Variable var(const Axes& axes, const VarianceOptions& options) const;
  Variable std(const VarianceOptions& options) const;
  Variable std(const Axes& axes, const VarianceOptions& options) const;
  // Over one axis, the result of max and min can be taken apart: auto [values, indices] = x.max(1).
  template <std::same_as<int> I> Extremes max(I axis, bool keepdims = false) const;
  template <std::same_as<int> I> Extremes min(I axis, bool keepdims = false) const;
  Extremes max(const ExtremumOptions& options) const;
  Extremes min(const ExtremumOptions& options) const;
  // max(1, {.keepdim = true})
  template <std::integral I, std::same_as<ExtremumOptions> O = ExtremumOptions> Extremes max(I dim, O o) const;
  template <std::integral I, std::same_as<ExtremumOptions> O = ExtremumOptions> Extremes min(I dim, O o) const;
  // The norm of the elements as a vector, or of the vectors along axes, in PyTorch's sense: x.norm(),
  // x.norm(2, {.dim = 1}). The orders are those of vectors of norm() in functions/linalg.h, "fro" is 2; ValueError for
  // other texts.
  Variable norm(const NormOptions& options = {}) const;
  template <class A = Axes>
  Variable norm(const catena::NormOrder& p, const std::type_identity_t<A>& axes = {}, bool keepdims = false) const {
    return norm(NormOptions{.ord = p, .axis = axes, .keepdims = keepdims});
  }
  Variable norm(const catena::NormOrder& p, const NormOptions& options) const;
  Variable astype(Dtype dtype) const;  // cast of functions/array.h
  // PyTorch's to(), differentiable: a dtype, a device, or "cpu", "cuda", "cuda:1" (ValueError for other texts).
  Variable to(Dtype dtype) const { return astype(dtype); }
  Variable to(Device device) const;
  Variable to(std::string_view device) const;
  Variable cpu() const { return to(Device{}); }
  Variable operator+() const { return *this; }
  Variable reshape(const Shape& shape) const;
  template <class... I> Variable reshape(std::int64_t first, I... rest) const {
    return reshape(Shape{first, std::int64_t(rest)...});
  }
  Variable transpose() const;  // axes reversed
  Variable transpose(const Dims& axes) const;
  // Two integers exchange these axes of a variable of a higher rank, as in PyTorch.
  template <class... I> Variable transpose(std::int64_t first, I... rest) const {
    if constexpr (sizeof...(I) == 1)
      if (ndim() > 2) return swapaxes(int(first), int(rest)...);
    return transpose(Dims{first, std::int64_t(rest)...});
  }
  Variable T() const { return transpose(); }

  // The functions of autograd/functions of these names, with PyTorch's or NumPy's order of arguments.
#define CATENA_MEMBER(name) Variable name() const;
#include <catena/autograd/unary_members.inc>
#undef CATENA_MEMBER
  Variable clone() const;       // copy to the same device
  Variable contiguous() const;  // x itself if its elements are in C order, else such a copy
  Variable pow(const Variable& exponent) const;
  Variable pow(double exponent) const;
  Variable clip(const Bound& low, const Bound& high) const;
  Variable clip(const ClampOptions& o) const;
  template <class B = Bound>
  Variable clamp(const std::type_identity_t<B>& low, const std::type_identity_t<B>& high = {}) const {
    return clip(low, high);
  }
  Variable clamp(const ClampOptions& o) const { return clip(o); }
  // PyTorch's product: leading axes broadcast, a vector is a row on the left and a column on the right, and the result
  // lacks its axis. The function matmul is Chainer's.
  Variable matmul(const Variable& other) const;
  Variable mm(const Variable& other) const { return matmul(other); }
  Variable dot(const Variable& other) const;  // of two vectors of the same length; else matmul
  // Where {} may be an absent axis, the functions with options are templates, so that {} is not ambiguous.
  Variable argmax(std::optional<int> axis = {}) const;
  template <std::same_as<ExtremumOptions> O = ExtremumOptions> Variable argmax(const O& o) const {
    return position_by(o, true);
  }
  // argmax(1, {.keepdim = true})
  template <std::integral I, std::same_as<ExtremumOptions> O = ExtremumOptions> Variable argmax(I dim, O o) const {
    return o.dim = int(dim), position_by(o, true);
  }
  Variable argmin(std::optional<int> axis = {}) const;
  template <std::same_as<ExtremumOptions> O = ExtremumOptions> Variable argmin(const O& o) const {
    return position_by(o, false);
  }
  template <std::integral I, std::same_as<ExtremumOptions> O = ExtremumOptions> Variable argmin(I dim, O o) const {
    return o.dim = int(dim), position_by(o, false);
  }
  Variable cumsum(std::optional<int> axis = {}) const;
  template <std::same_as<AxisOption> O = AxisOption> Variable cumsum(const O& o) const { return cumsum(o.value()); }
  Variable cumprod(std::optional<int> axis = {}) const;
  template <std::same_as<AxisOption> O = AxisOption> Variable cumprod(const O& o) const { return cumprod(o.value()); }
  Sorted sort(int axis = -1, bool descending = false) const;
  Sorted sort(const SortOptions& options) const;
  Variable argsort(int axis = -1, bool descending = false) const;
  Variable argsort(const SortOptions& o) const { return argsort(o.value(), o.descending); }
  Sorted topk(std::int64_t k, int axis = -1, bool largest = true) const;
  Sorted topk(std::int64_t k, const TopKOptions& options) const;
  // With PyTorch's last argument; the results are sorted with either value.
  Sorted topk(std::int64_t k, int axis, bool largest, bool sorted) const;
  // softmax, log_softmax and relu are defined in <catena/nn/functions/activation.h>, which their callers include.
  template <class... A> Variable softmax(const A&... axis) const { return softmax_member(*this, axis...); }
  template <std::same_as<AxisOption> O = AxisOption> Variable softmax(const O& o) const {
    return softmax_member(*this, o);
  }
  template <class... A> Variable log_softmax(const A&... axis) const { return log_softmax_member(*this, axis...); }
  template <std::same_as<AxisOption> O = AxisOption> Variable log_softmax(const O& o) const {
    return log_softmax_member(*this, o);
  }
  template <class V = Variable> V relu() const { return relu_member(static_cast<const V&>(*this)); }
  Variable gather(int axis, const Variable& index) const;
  Variable scatter(int axis, const Variable& index, const Variable& src) const;
  Variable scatter(int axis, const Variable& index, double src) const;
  Variable scatter_add(int axis, const Variable& index, const Variable& src) const;
  Variable index_select(int axis, const Variable& index) const;
  Variable masked_fill(const Variable& mask, const Variable& value) const;
  Variable masked_fill(const Variable& mask, double value) const;
  Variable masked_select(const Variable& mask) const;
  // Joins the axes from `start` to `end` in one.
  Variable flatten(int start = 0, int end = -1) const;
  Variable flatten(const FlattenOptions& o) const { return flatten(o.start_dim, o.end_dim); }
  Variable squeeze(const Axes& axis = {}) const;
  Variable unsqueeze(int axis) const;
  Variable view(const Shape& shape) const { return reshape(shape); }
  Variable view_as(const Variable& other) const { return reshape(other.shape()); }
  template <class... I> Variable view(std::int64_t first, I... rest) const { return reshape(first, rest...); }
  Variable permute(const Dims& axes) const { return transpose(axes); }
  template <class... I> Variable permute(std::int64_t first, I... rest) const {
    return transpose(Dims{first, std::int64_t(rest)...});
  }
  Variable swapaxes(int axis1, int axis2) const;
  Variable moveaxis(const Dims& source, const Dims& destination) const;
  Variable t() const;  // the transpose of a matrix; a vector as it is; ValueError for a higher rank
  // broadcast_to; a length of -1 is that of x.
  Variable expand(const Shape& shape) const;
  template <class... I> Variable expand(std::int64_t first, I... rest) const {
    return expand(Shape{first, std::int64_t(rest)...});
  }
  Variable expand_as(const Variable& other) const { return expand(other.shape()); }
  Variable tile(const Dims& reps) const;                                                 // PyTorch's repeat
  Variable repeat_interleave(std::int64_t repeats, std::optional<int> axis = {}) const;  // NumPy's repeat
  Variable flip(const Axes& axis = {}) const;
  Variable roll(std::int64_t shift, const Axes& axis = {}) const;
  Variable tril(std::int64_t k = 0) const;
  Variable triu(std::int64_t k = 0) const;
  Variables chunk(std::int64_t chunks, int axis = 0) const;
  Variables chunk(std::int64_t chunks, const AxisOption& o) const;
  Variables split(std::int64_t length, int axis = 0) const;
  Variables split(std::int64_t length, const AxisOption& o) const;
  Variables split(const std::vector<std::int64_t>& lengths, int axis = 0) const;
  Variables split(const std::vector<std::int64_t>& lengths, const AxisOption& o) const;
  Variables unbind(int axis = 0) const;
  Variables unbind(const AxisOption& o) const;
  // Has hook(gradient) called whenever a gradient of this variable has been computed: in backward before it is added to
  // grad() of a leaf or passed on to the creator, and in grad(). A Variable that hook returns, of the same shape and
  // dtype, replaces the gradient; a null Variable, or a hook without a result, leaves it. Hooks run in their order.
  template <class F> GradHook register_hook(F hook) const {
    if constexpr (std::is_void_v<decltype(hook(*this))>)
      return add_hook([hook = std::move(hook)](const Variable& g) mutable {
        hook(g);
        return Variable();
      });
    else return add_hook(std::move(hook));
  }

  // These compare the elements, as the operators of arrays do: (y.argmax(1) == t).sum(). is_same() compares handles: it
  // is true for two handles of one variable.
#define CATENA_COMPARISON(op, name) friend CATENA_EXPORT Mask operator op(const Variable& a, const Variable& b);
#include <catena/autograd/comparisons.inc>
#undef CATENA_COMPARISON
  Mask eq(const Variable& other) const;
#include <catena/autograd/members_with_options.inc>
#include <catena/autograd/torch_members.inc>

 protected:
  // A leaf whose data is set later, with volatile AUTO (a parameter of unknown shape). Until set_data, data() is a null
  // array, and shape(), dtype() and similar members throw a ValueError.
  struct Pending {};
  explicit Variable(Pending);
  void drop_data();  // back to the pending state; also removes the gradient

 private:
  friend struct internal::Access;
  friend struct catena::in_place_of<Variable>;
#define CATENA_REDUCTION_RULE(name, ...) Variable name##_over(const Axes& axes, bool keepdims) const;
#include <catena/autograd/reductions.inc>
#undef CATENA_REDUCTION_RULE
  Variable position_by(const ExtremumOptions& options, bool greatest) const;
  const Array& present() const;
  GradHook add_hook(GradHook::Function hook) const;
  friend class IndexedVariable;
  Variable item_at(const std::vector<IndexItem>& items) const;
  // The arrays of members such as add_, of the variable that is written and of its operands. RuntimeError if a graph
  // would have to know of the change.
  const Array& writable(std::string_view op) const;
  const Array& read_by(std::string_view op) const;
  template <class T> static void check_operand(const T& x, std::string_view op) {
    if constexpr (std::derived_from<T, Variable>) static_cast<const Variable&>(x).read_by(op);
  }
  const Variable& replace_elements(const Variable& result, std::string_view op) const;
  const Variable& replace_array(const Array& array, std::string_view op) const;
  explicit Variable(internal::VariableNode* adopt) noexcept : node_(adopt) {}
  static Variable wrap(const Array& data);
  void set_options(const VariableOptions& options);  // to be called for a new variable only
  void add_handle() const noexcept;
  void drop_handle() noexcept;
  internal::VariableNode& checked() const;

  internal::VariableNode* node_ = nullptr;
};

// x[0] or x(0, Slice(1, 3)): the elements as a variable, of which the gradient goes to x. As a temporary on the left of
// an assignment, it writes the elements of x as index_put_ does: x[0] = 1, x[mask] = v, x(0, 2) += w. RuntimeError if x
// or v requires its gradient, unless within autograd::no_grad. A named variable, auto y = x[0], is assigned as any
// other.
class IndexedVariable : public Variable {
 public:
  IndexedVariable(const Variable& of, std::vector<IndexItem> items)
      : Variable(of.item_at(items)), of_(of), items_(std::move(items)) {}
  IndexedVariable(const IndexedVariable&) = default;
  IndexedVariable(IndexedVariable&&) = default;
  IndexedVariable& operator=(const IndexedVariable& v) & { return *this = static_cast<const Variable&>(v); }
  IndexedVariable& operator=(const Variable& v) & {
    Variable::operator=(v);
    of_ = Variable();
    return *this;
  }
  template <class T> void operator=(const T& values) && { write(values); }
  template <class T> void operator+=(const T& values) && { write(*this + values); }
  template <class T> void operator-=(const T& values) && { write(*this - values); }
  template <class T> void operator*=(const T& values) && { write(*this * values); }
  template <class T> void operator/=(const T& values) && { write(*this / values); }

 private:
  template <class T> void write(const T& values) const {
    if constexpr (std::derived_from<T, Variable>) of_.index_put_(items_, static_cast<const Variable&>(values));
    else of_.index_put_(items_, values);
  }

  Variable of_;
  std::vector<IndexItem> items_;
};
// A variable of one of these classes, and of no other that is derived.
template <class V>
concept PlainVariable = std::same_as<V, Variable> || std::same_as<V, IndexedVariable>;

template <class... K>
IndexedVariable Variable::operator()(const K&... keys) const
    requires(sizeof...(K) > 0 && (... && std::convertible_to<const K&, IndexItem>)) {
  return {*this, {IndexItem(keys)...}};
}
template <std::convertible_to<IndexItem> K> IndexedVariable Variable::operator[](const K& key) const {
  return {*this, {IndexItem(key)}};
}
inline IndexedVariable Variable::operator()(std::initializer_list<catena::Integer> list) const {
  return {*this, {IndexItem(list)}};
}
inline IndexedVariable Variable::operator[](std::initializer_list<catena::Integer> list) const {
  return {*this, {IndexItem(list)}};
}
inline IndexedVariable Variable::operator[](const IndexItems& items) const { return {*this, items.items}; }

// A bound of clip: a number, a Variable that broadcasts, or, for {}, none. It is a handle of the Variable, so a bound
// may be kept.
class Bound {
 public:
  Bound() noexcept = default;
  template <class E>
  requires(std::is_arithmetic_v<E>) Bound(E n)
  noexcept : number(double(n)), is_number(true) {}
  Bound(const Variable& v) noexcept : variable(v), is_variable(true) {}

  Variable variable = {};
  double number = 0;
  bool is_number = false, is_variable = false;
};

struct ClampOptions {
  Bound min = {}, max = {};
};
inline Variable Variable::clip(const ClampOptions& o) const { return clip(o.min, o.max); }

// The results of sort and topk: auto [values, indices] = sort(x).
struct Sorted {
  Variable values;
  Variable indices;  // int64, along the axis; no gradient
};

// The result of max and min over one axis, and of max and min with options, which may also reduce all axes: positions
// then count all elements. It is the variable of the values, which have a gradient. indices() computes
// the positions, of the first one of equal values (int32, without a gradient); auto [values, indices] calls it as well.
// RuntimeError if another variable was assigned to the result.
class CATENA_EXPORT Extremes : public Variable {
 public:
  Extremes(const Variable& of, std::optional<int> axis, bool keepdims, bool greatest);
  Extremes& operator=(const Variable& v);
  const Variable& values() const noexcept { return *this; }
  Variable indices() const;
  template <std::size_t I> Variable get() const {
    if constexpr (I == 0) return values();
    else return indices();
  }

 private:
  Variable of_;
  std::optional<int> axis_;
  bool keepdims_, greatest_;
};
inline Sorted Variable::topk(std::int64_t k, int axis, bool largest, bool /*sorted*/) const {
  return topk(k, axis, largest);
}
template <std::integral I, std::same_as<ExtremumOptions> O> Extremes Variable::max(I dim, O o) const {
  return o.dim = int(dim), max(o);
}
template <std::integral I, std::same_as<ExtremumOptions> O> Extremes Variable::min(I dim, O o) const {
  return o.dim = int(dim), min(o);
}
template <std::same_as<int> I> Extremes Variable::max(I axis, bool keepdims) const {
  return {*this, axis, keepdims, true};
}
template <std::same_as<int> I> Extremes Variable::min(I axis, bool keepdims) const {
  return {*this, axis, keepdims, false};
}

// The result of a comparison of variables: an array of bool. In a condition, its only element decides. ValueError for
// another number of elements: (x > 0).all() and (x > 0).any() reduce.
class CATENA_EXPORT Mask : public Array {
 public:
  explicit Mask(Array array) noexcept : Array(std::move(array)) {}
  explicit operator bool() const;
};

namespace internal {
enum class Comparison : unsigned char {
#define CATENA_COMPARISON(op, name) name,
#include <catena/autograd/comparisons.inc>
#undef CATENA_COMPARISON
};
CATENA_EXPORT Mask compared(Comparison how, const Operand& a, const Operand& b);
}  // namespace internal
// Comparisons with a number, which takes part as in the operators of arrays: x == 0.1 compares in the dtype of x if
// that is a floating one.
#define CATENA_COMPARISON(op, name)                                            \
  template <class E>                                                           \
  requires(std::is_arithmetic_v<E>) Mask operator op(const Variable& a, E b) { \
    return internal::compared(internal::Comparison::name, a.data(), b);        \
  }                                                                            \
  template <class E>                                                           \
  requires(std::is_arithmetic_v<E>) Mask operator op(E a, const Variable& b) { \
    return internal::compared(internal::Comparison::name, a, b.data());        \
  }
#include <catena/autograd/comparisons.inc>
#undef CATENA_COMPARISON

// Returns a Variable as it is, and an array as a leaf that gets no gradient.
inline Variable as_variable(const Variable& x) { return x; }
template <ArrayLike T> Variable as_variable(const T& x) { return Variable(x, {.requires_grad = false}); }

// Prints variable([1. 2.]), or with a name: variable W([1. 2.]). Copies the values to the host.
CATENA_EXPORT std::ostream& operator<<(std::ostream& out, const Variable& v);

// Runs one backward pass from several variables, each weighted by its gradient (one element without a gradient: by
// loss_scale), as the backward pass of their weighted sum.
CATENA_EXPORT void backward(const Variables& outputs, const BackwardOptions& options = {});

}  // namespace autograd

template <> struct std::tuple_size<autograd::Extremes> : std::integral_constant<std::size_t, 2> {};
template <std::size_t I> struct std::tuple_element<I, autograd::Extremes> { using type = autograd::Variable; };

#include <catena/autograd/variables_of.h>
