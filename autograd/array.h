// The value API: arrays without a graph, over the backend interface. Backward rules on raw arrays, optimizers and
// converters use it. Semantics are NumPy's (broadcasting, weak scalars; see kernels/registry/bind.h). Every function
// allocates its result on the device of its array operands, and throws a ValueError that names both devices if operands
// are on different devices or backends.
#pragma once

#include <concepts>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <catena/autograd/backend/array.h>
#include <catena/autograd/backend/operand.h>
#include <catena/kernels/registry/families.h>
#include <catena/kernels/registry/kernel_declaration.h>
#include <catena/kernels/registry/random_kind.h>

namespace autograd {

// ---- creation ----
// autograd::zeros({2, 3}) and its relatives make Variables (ndarray_backend/torch_creation.h).
namespace arrays {
// New arrays of the default backend: float32 on the current device unless given. The elements of `empty` are arbitrary.
CATENA_EXPORT Array empty(const Shape& shape, Dtype dtype = Dtype::float32, std::optional<Device> device = {});
CATENA_EXPORT Array full(const Shape& shape, const Scalar& value, Dtype dtype = Dtype::float32,
                         std::optional<Device> device = {});
CATENA_EXPORT Array zeros(const Shape& shape, Dtype dtype = Dtype::float32, std::optional<Device> device = {});
CATENA_EXPORT Array ones(const Shape& shape, Dtype dtype = Dtype::float32, std::optional<Device> device = {});
// 0, 1, ..., n - 1
CATENA_EXPORT Array arange(std::int64_t n, Dtype dtype = Dtype::int64, std::optional<Device> device = {});
}  // namespace arrays
CATENA_EXPORT Array empty_like(const Array& a);  // shape, dtype, device and backend of a; C order
CATENA_EXPORT Array zeros_like(const Array& a);
CATENA_EXPORT Array ones_like(const Array& a);
CATENA_EXPORT Array full_like(const Array& a, const Scalar& value);
CATENA_EXPORT Array from_host(const void* data, const Shape& shape, Dtype dtype, std::optional<Device> device = {});
template <class T> Array array(const std::vector<T>& values, const Shape& shape, std::optional<Device> device = {}) {
  catena::check<catena::ValueError>(std::int64_t(values.size()) == catena::size_of(shape), "array", values.size(),
                                    " values do not fill the shape ", catena::to_string(shape));
  if constexpr (std::is_same_v<T, bool>) {  // std::vector<bool> has no data()
    const std::vector<unsigned char> bytes(values.begin(), values.end());
    return from_host(bytes.data(), shape, catena::dtype_of<T>, device);
  } else {
    return from_host(values.data(), shape, catena::dtype_of<T>, device);
  }
}

// ---- reading back (these functions block) ----
CATENA_EXPORT void to_host(const Array& a, void* c_order);    // all elements in C order, in the array's dtype
CATENA_EXPORT Scalar item(const Array& a);                    // the only element; ValueError when the size is not 1
template <class T> std::vector<T> to_vector(const Array& a);  // C order, converted to T
CATENA_EXPORT std::string to_string(const Array& a);          // NumPy-like text, at most ~1000 elements

// ---- copies and moves ----
CATENA_EXPORT Array copy(const Array& a);                         // C order
CATENA_EXPORT Array contiguous(const Array& a);                   // a itself when it is C-contiguous
CATENA_EXPORT Array astype(const Array& a, Dtype dtype);          // a itself when it has the dtype
CATENA_EXPORT Array to_device(const Array& a, Device device);     // a itself when it is there
CATENA_EXPORT void assign(const Array& to, const Operand& from);  // broadcasts; any cast is allowed
template <ForeignArray T> void assign(const Array& to, const T& from) { assign(to, Operand(Array(from))); }
CATENA_EXPORT void fill(const Array& to, const Scalar& value);  // every element; any cast is allowed
// Copies elements between arrays of equal shape across devices and backends.
CATENA_EXPORT void copy_across(const Array& to, const Array& from);

// ---- kernels ----
// Runs an elementwise kernel: apply(catena::kernels::add, {a, b}).
CATENA_EXPORT Array apply(const catena::KernelDef& kernel, std::initializer_list<Operand> inputs);
// for kernels with several outputs
CATENA_EXPORT Arrays apply_all(const catena::KernelDef& kernel, std::span<const Operand> inputs);
// Writes into the given outputs, in-outs first. The loop is chosen by the dtypes of the inputs and in-outs.
CATENA_EXPORT void apply_into(const catena::KernelDef& kernel, std::span<const Operand> inputs,
                              std::span<const Array> outputs);
// Like apply_into, but processes the positions of the first axis in order: a position reads the values written at
// earlier positions, so one call computes a recurrence. y[1:] = kernel(y[:-1], x[1:]) is a cumulative sum if the kernel
// adds.
CATENA_EXPORT void apply_in_order(const catena::KernelDef& kernel, std::span<const Operand> inputs,
                                  std::span<const Array> outputs);
// Runs an indexed kernel. Raw inputs keep their shape; the loop has the shape of `out`, and is chosen by the dtype of
// `out`.
CATENA_EXPORT void apply_indexed(const catena::KernelDef& kernel, std::span<const Operand> inputs,
                                 std::span<const Array> outputs);
CATENA_EXPORT Array reduce(const catena::KernelDef& kernel, const Array& a, const Axes& axes = {},
                           bool keepdims = false, std::optional<Dtype> dtype = {});
// Computes reduce(kernel, apply(map, inputs), axes, keepdims) without storing the result of the elementwise kernel
// `map`.
CATENA_EXPORT Array map_reduce(const catena::KernelDef& kernel, const catena::KernelDef& map,
                               std::initializer_list<Operand> inputs, const Axes& axes = {}, bool keepdims = false);
// Runs a row-wise kernel over `axes`. Returns first the outputs of the common shape, then the outputs with one element
// per row, which have length 1 along `axes`.
CATENA_EXPORT Arrays row_wise(const catena::KernelDef& kernel, std::span<const Operand> inputs, const Axes& axes);
// Like row_wise, but also returns, after these outputs, one sum over all other axes for each entry of `sums`; these
// axes have length 1 in it. A sum is map_reduce(catena::kernels::sum, *map, inputs, ..., true), or the sum of inputs[0]
// if `map` is null. The operands broadcast to the shape of the rows. They are read in one pass for all results if that
// is faster on the device.
struct SumOverRows {
  const catena::KernelDef* map = nullptr;
  std::span<const Operand> inputs;
};
CATENA_EXPORT Arrays row_wise_and_sums(const catena::KernelDef& kernel, std::span<const Operand> inputs,
                                       const Axes& axes, std::span<const SumOverRows> sums);

CATENA_EXPORT Array operator+(const Operand& a, const Operand& b);
CATENA_EXPORT Array operator-(const Operand& a, const Operand& b);
CATENA_EXPORT Array operator*(const Operand& a, const Operand& b);
CATENA_EXPORT Array operator/(const Operand& a, const Operand& b);
CATENA_EXPORT Array operator-(const Array& a);
// In-place operators. They write the elements of the array; the handle may be const, as in p.data() -= rate * p.grad().
CATENA_EXPORT const Array& operator+=(const Array& a, const Operand& b);
CATENA_EXPORT const Array& operator-=(const Array& a, const Operand& b);
CATENA_EXPORT const Array& operator*=(const Array& a, const Operand& b);
CATENA_EXPORT const Array& operator/=(const Array& a, const Operand& b);

CATENA_EXPORT Array sum(const Array& a, const Axes& axes = {}, bool keepdims = false);
CATENA_EXPORT Array mean(const Array& a, const Axes& axes = {}, bool keepdims = false);
// Extreme elements over axes; NaN if there is a NaN.
CATENA_EXPORT Array amax(const Array& a, const Axes& axes = {}, bool keepdims = false);
CATENA_EXPORT Array amin(const Array& a, const Axes& axes = {}, bool keepdims = false);
CATENA_EXPORT Array matmul(const Array& a, const Array& b, bool transpose_a = false, bool transpose_b = false);
CATENA_EXPORT Array where(const Operand& condition, const Operand& x, const Operand& y);

CATENA_EXPORT Array reshape(const Array& a, const Shape& shape);
CATENA_EXPORT Array transpose(const Array& a);  // axes reversed
CATENA_EXPORT Array transpose(const Array& a, const Dims& axes);
CATENA_EXPORT Array swapaxes(const Array& a, int axis1, int axis2);
CATENA_EXPORT Array broadcast_to(const Array& a, const Shape& shape);
CATENA_EXPORT Array sum_to(const Array& a, const Shape& shape);  // adjoint of broadcast_to
CATENA_EXPORT Array expand_dims(const Array& a, int axis);
CATENA_EXPORT Array squeeze(const Array& a, const Axes& axes = {});
// Joins arrays along an axis. ValueError for shapes that differ in another axis.
CATENA_EXPORT Array concatenate(std::span<const Array> arrays, int axis = 0);
// Returns a[start:stop:step] along one axis, as a view.
CATENA_EXPORT Array slice(const Array& a, int axis, std::int64_t start, std::int64_t stop, std::int64_t step = 1);
// Indices out of range are handled as in get_item (functions/array.h).
CATENA_EXPORT Array take(const Array& a, const Array& indices, int axis);

// True if one library made both arrays.
CATENA_EXPORT bool same_backend(const Array& a, const Array& b) noexcept;
// Throws a ValueError with `op` and the devices if the arrays are on different devices or backends. Null arrays are
// ignored.
CATENA_EXPORT void check_same_device(std::string_view op, std::span<const Array> arrays);
CATENA_EXPORT bool has_nan(const Array& a);  // floating dtypes; blocks

// ---- random numbers ----
// State of a Philox stream; every draw advances the offset.
struct Generator {
  Generator() = default;
  template <std::integral I> explicit Generator(I first_seed) noexcept : seed(static_cast<std::uint64_t>(first_seed)) {}
  Generator(std::uint64_t first_seed, std::uint64_t first_offset) noexcept : seed(first_seed), offset(first_offset) {}
  // PyTorch's form. The numbers of a generator are the same on every device, so it may be used for any.
  CATENA_EXPORT explicit Generator(const char* device);  // ValueError unless it is a name of a device
  explicit Generator(Device /*device*/) {}
  std::uint64_t initial_seed() const noexcept { return seed; }
  // The state as a value, and back.
  Generator get_state() const noexcept { return *this; }
  void set_state(const Generator& state) noexcept { *this = state; }

  std::uint64_t seed = 0, offset = 0;
  std::uint64_t take(std::int64_t n) noexcept {  // returns the offset to use for n elements
    return std::exchange(offset, offset + catena::random_counters(n));
  }
  // Begins the sequence of a seed: Generator().manual_seed(0).
  Generator& manual_seed(std::uint64_t new_seed) noexcept {
    seed = new_seed, offset = 0;
    return *this;
  }
};
// Returns the default generator of the thread. seed() sets the seed of this generator and of the generators of the
// array library, nd::random, on all devices.
CATENA_EXPORT Generator& default_generator();
CATENA_EXPORT void seed(std::uint64_t seed);
CATENA_EXPORT Array random_uniform(const Shape& shape, double low, double high, Dtype dtype, Generator& g,
                                   std::optional<Device> device = {});
CATENA_EXPORT Array random_normal(const Shape& shape, double mean, double stddev, Dtype dtype, Generator& g,
                                  std::optional<Device> device = {});

template <class T> std::vector<T> to_vector(const Array& a) {
  const Array same = astype(a, catena::dtype_of<T>);
  std::vector<T> out(static_cast<std::size_t>(a.size()));
  if constexpr (std::is_same_v<T, bool>) {
    std::vector<unsigned char> bytes(out.size());
    to_host(same, bytes.data());
    out.assign(bytes.begin(), bytes.end());
  } else {
    to_host(same, out.data());
  }
  return out;
}

}  // namespace autograd
