#include <catena/ndarray/sparse/kernels.h>

#include <algorithm>
#include <limits>

#include <catena/ndarray/core/storage.h>
#include <catena/ndarray/cuda/vendor/cusparse.h>
#include <catena/ndarray/device/device.h>
#include <catena/ndarray/routines/creation.h>
#include <catena/ndarray/routines/indexing.h>
#include <catena/ndarray/routines/scan.h>
#include <catena/ndarray/routines/sorting.h>
#include <catena/ndarray/sparse/loops_sparse.h>
#include <catena/ndarray/user_kernel/elementwise_kernel.h>

namespace nd::sparse::kernels {
namespace {

using catena::check;

bool on_host(const Array& a) { return a.device().kind == Device::Kind::cpu; }

Array new_array(const Shape& shape, Dtype dtype, Device device) {
  return Array(internal::new_array(shape, dtype, device, "sparse"));
}

// One element of the product per thread: neighbouring threads have neighbouring columns of the same row.
const ElementwiseKernel& multiply_kernel() {
  static const ElementwiseKernel kernel("raw T data, raw I indices, raw I indptr, raw T x, int64 columns", "T out",
                                        "const int64_t row = i / columns, column = i % columns;\n"
                                        "const int64_t end = indptr[row + 1];\n"
                                        "T sum = T(0);\n"
                                        "for (int64_t k = indptr[row]; k < end; ++k)\n"
                                        "  sum = T(sum + data[k] * x[int64_t(indices[k]) * columns + column]);\n"
                                        "out = sum",
                                        "sparse_multiply");
  return kernel;
}

const ElementwiseKernel& sum_rows_kernel() {
  static const ElementwiseKernel kernel("raw T data, raw I indptr", "T out",
                                        "const int64_t end = indptr[i + 1];\n"
                                        "T sum = T(0);\n"
                                        "for (int64_t k = indptr[i]; k < end; ++k) sum = T(sum + data[k]);\n"
                                        "out = sum",
                                        "sparse_sum_rows");
  return kernel;
}

}  // namespace

Array multiply(const Array& data, const Array& indices, const Array& indptr, const Array& x) {
  Shape shape = x.shape();
  shape[0] = indptr.size() - 1;
  const Array out = new_array(shape, data.dtype(), data.device());
  if (out.size() == 0) return out;
  if (on_host(data)) loops::multiply(data, indices, indptr, x, out);
  else if (!cuda::sparse_multiply(*data.get(), *indices.get(), *indptr.get(), *x.get(), *out.get()))
    multiply_kernel()({data, indices, indptr, x, x.ndim() == 1 ? std::int64_t(1) : x.shape(1), out.ravel()});
  return out;
}

Array sum_rows(const Array& data, const Array& indptr) {
  const Array out = new_array(Shape{indptr.size() - 1}, data.dtype(), data.device());
  if (out.size() == 0) return out;
  if (on_host(data)) loops::sum_rows(data, indptr, out);
  else sum_rows_kernel()({data, indptr, out});
  return out;
}

Array number_rows(const Array& indptr, std::int64_t n) {
  const DeviceScope scope(indptr.device());
  if (!on_host(indptr))
    return searchsorted(indptr(Slice(1, None)), arange(n, indptr.dtype()), "right").astype(indptr.dtype());
  const Array numbers = new_array(Shape{n}, indptr.dtype(), indptr.device());
  if (n > 0) loops::number_rows(indptr, numbers);
  return numbers;
}

Groups group(const Array& keys, std::int64_t keys_end) {
  const DeviceScope scope(keys.device());
  if (!on_host(keys)) {
    const Array order = argsort(keys);
    return {order.astype(keys.dtype()),
            searchsorted(take(keys, order), arange(keys_end + 1, keys.dtype())).astype(keys.dtype())};
  }
  Groups groups{new_array(keys.shape(), keys.dtype(), keys.device()),
                new_array(Shape{keys_end + 1}, keys.dtype(), keys.device())};
  loops::group(keys, groups.order, groups.starts);
  return groups;
}

Array sorted_order(const Array& keys, std::int64_t keys_end) {
  // A counting sort passes over all keys, those that do not occur as well.
  constexpr std::int64_t kKeysPerElement = 16;
  const bool counted = on_host(keys) && keys_end <= kKeysPerElement * (keys.size() + 64);
  return counted ? group(keys, keys_end).order : argsort(keys).astype(keys.dtype());
}

Dtype index_dtype(std::int64_t rows, std::int64_t columns, std::int64_t entries) {
  return std::max({rows, columns, entries}) < std::numeric_limits<std::int32_t>::max() ? Dtype::int32 : Dtype::int64;
}

Array converted(const Array& a, Dtype dtype) { return internal::contiguous(a.astype(dtype, {.copy = false})); }

Array offsets(const Array& counts, Dtype dtype) {
  const DeviceScope scope(counts.device());
  const Array sums = zeros(counts.size() + 1, dtype);
  if (counts.size() > 0) sums(Slice(1, None)) = cumsum(counts, 0, Dtype::int64);
  return sums;
}

Dtype result_dtype(Dtype a, Dtype b) {
  const Dtype both = catena::promote_types(a, b);
  return both == Dtype::float16 || both == Dtype::bfloat16 ? Dtype::float32 : both;
}

void check_dtype(std::string_view op, Dtype dtype) {
  check<TypeError>(dtype != Dtype::float16 && dtype != Dtype::bfloat16, op, "the dtype is ", dtype,
                   ", but sparse matrices have bools, integers, float32, float64 or complex numbers");
}

void check_device(std::string_view op, Device a, Device b) {
  check<ValueError>(a == b, op, "the operands are on the devices ", a, " and ", b, ", must be on one device");
}

}  // namespace nd::sparse::kernels
