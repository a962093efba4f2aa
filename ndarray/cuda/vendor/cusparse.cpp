#include <catena/ndarray/cuda/vendor/cusparse.h>

#include <cstdint>
#include <memory>
#include <optional>

#include <catena/kernels/base/error.h>
#include <catena/ndarray/cuda/plans/execute.h>
#include <catena/ndarray/cuda/runtime/context.h>
#include <catena/ndarray/cuda/runtime/handle_pool.h>
#include <catena/ndarray/cuda/runtime/launch.h>
#include <catena/ndarray/cuda/vendor/vendor.h>
#include <catena/ndarray/engine/execute.h>

namespace nd::cuda {
namespace {

using catena::ArrayHeader;

void load_cusparse(Cusparse& table) {
  const Library library({"cuSPARSE", {"libcusparse.so.12", "libcusparse.so.11", "libcusparse.so"}});
  CATENA_CUSPARSE_FUNCTIONS(CATENA_RESOLVE)
  table.path = library.path();
}

const Loaded<Cusparse>& loaded_cusparse() {
  static const auto& loaded = *new Loaded<Cusparse>(load_cusparse);
  return loaded;
}

void check_cusparse(api::cusparse_status status, const char* call) {
  if (status == api::cusparse_success) [[likely]]
    return;
  const char* const name = cusparse().get_error_name(status);
  fail_vendor({"cuSPARSE", status, name != nullptr ? name : "unknown status", status == api::cusparse_alloc_failed},
              call);
}
#define CATENA_SPARSE(field, ...) check_cusparse(cusparse().field(__VA_ARGS__), api::CusparseNames::field)

HandlePool<api::cusparse_handle>::Lease lease_handle(int device) {
  static auto& pool = *new HandlePool<api::cusparse_handle>(driver().device_count);
  return pool.lease(device, [] {
    api::cusparse_handle handle = nullptr;
    CATENA_SPARSE(create, &handle);
    return handle;
  });
}

// ---- descriptors with the lifetime of a call ----------------------------------------------------
template <class T> using Owned = std::unique_ptr<T, api::cusparse_status (*)(const T*)>;
using Matrix = Owned<cusparseSpMatDescr>;
using DenseMatrix = Owned<cusparseDnMatDescr>;
using DenseVector = Owned<cusparseDnVecDescr>;

std::optional<int> type_of(catena::Dtype dtype) {
  switch (dtype) {
    case catena::Dtype::float32: return api::cuda_r_32f;
    case catena::Dtype::float64: return api::cuda_r_64f;
    case catena::Dtype::complex64: return api::cuda_c_32f;
    case catena::Dtype::complex128: return api::cuda_c_64f;
    default: return std::nullopt;
  }
}
int index_type(const ArrayHeader& a) {
  return a.dtype == catena::Dtype::int32 ? api::cusparse_index_32 : api::cusparse_index_64;
}

struct Product {
  const ArrayHeader &data, &indices, &indptr, &x, &out;
  int type;
  std::int64_t rows() const { return indptr.shape[0] - 1; }
  std::int64_t columns() const { return x.shape[0]; }
  std::int64_t vectors() const { return x.shape.size() == 1 ? 1 : x.shape[1]; }
};

Matrix new_matrix(const Product& p) {
  api::cusparse_matrix made = nullptr;
  CATENA_SPARSE(create_csr, &made, p.rows(), p.columns(), p.data.shape[0], p.indptr.data, p.indices.data, p.data.data,
                index_type(p.indptr), index_type(p.indices), api::cusparse_base_zero, p.type);
  return {made, cusparse().destroy_matrix};
}
DenseMatrix new_dense_matrix(const Product& p, const ArrayHeader& a) {
  api::cusparse_dense_matrix made = nullptr;
  CATENA_SPARSE(create_dense_matrix, &made, a.shape[0], p.vectors(), p.vectors(), a.data, p.type,
                api::cusparse_order_row);
  return {made, cusparse().destroy_dense_matrix};
}
DenseVector new_dense_vector(const Product& p, const ArrayHeader& a) {
  api::cusparse_dense_vector made = nullptr;
  CATENA_SPARSE(create_dense_vector, &made, a.shape[0], a.data, p.type);
  return {made, cusparse().destroy_dense_vector};
}

// The numbers 1 and 0 in any of the types; complex numbers have a second part.
struct Scales {
  explicit Scales(int type) : wide(type == api::cuda_r_64f || type == api::cuda_c_64f) {}
  const void* one() const { return wide ? static_cast<const void*>(one64) : one32; }
  const void* zero() const { return wide ? static_cast<const void*>(zero64) : zero32; }
  bool wide;
  static constexpr float one32[2] = {1, 0}, zero32[2] = {0, 0};
  static constexpr double one64[2] = {1, 0}, zero64[2] = {0, 0};
};

void multiply_vector(const Product& p, api::cusparse_handle handle, StreamRef stream) {
  const Matrix a = new_matrix(p);
  const DenseVector x = new_dense_vector(p, p.x), y = new_dense_vector(p, p.out);
  const Scales s(p.type);
  std::size_t bytes = 0;
  CATENA_SPARSE(spmv_size, handle, api::cusparse_op_n, s.one(), a.get(), x.get(), s.zero(), y.get(), p.type,
                api::cusparse_spmv_csr_alg2, &bytes);
  const Scratch buffer(bytes, stream);
  enqueue(api::CusparseNames::spmv, stream, {p.rows(), p.columns(), p.data.shape[0]}, [&] {
    CATENA_SPARSE(spmv, handle, api::cusparse_op_n, s.one(), a.get(), x.get(), s.zero(), y.get(), p.type,
                  api::cusparse_spmv_csr_alg2, buffer.data());
  });
}

void multiply_matrix(const Product& p, api::cusparse_handle handle, StreamRef stream) {
  const Matrix a = new_matrix(p);
  const DenseMatrix x = new_dense_matrix(p, p.x), y = new_dense_matrix(p, p.out);
  const Scales s(p.type);
  std::size_t bytes = 0;
  CATENA_SPARSE(spmm_size, handle, api::cusparse_op_n, api::cusparse_op_n, s.one(), a.get(), x.get(), s.zero(), y.get(),
                p.type, api::cusparse_spmm_csr_alg3, &bytes);
  const Scratch buffer(bytes, stream);
  enqueue(api::CusparseNames::spmm, stream, {p.rows(), p.columns(), p.vectors(), p.data.shape[0]}, [&] {
    CATENA_SPARSE(spmm, handle, api::cusparse_op_n, api::cusparse_op_n, s.one(), a.get(), x.get(), s.zero(), y.get(),
                  p.type, api::cusparse_spmm_csr_alg3, buffer.data());
  });
}

}  // namespace

const Cusparse& cusparse() { return loaded_cusparse().get(); }

bool sparse_multiply(const ArrayHeader& data, const ArrayHeader& indices, const ArrayHeader& indptr,
                     const ArrayHeader& x, const ArrayHeader& out) {
  const std::optional<int> type = type_of(data.dtype);
  if (!type || data.shape[0] == 0 || !loaded_cusparse().error.empty()) return false;
  const Product product{data, indices, indptr, x, out, *type};
  const StreamRef stream = nd::internal::stream_for(out.device);
  const ArrayHeader* const reads[] = {&data, &indices, &indptr, &x};
  const ArrayHeader* const writes[] = {&out};
  nd::internal::launch_on(stream, reads, writes, [&] {
    use_device(stream.device.id);
    const auto handle = lease_handle(stream.device.id);
    CATENA_SPARSE(set_stream, handle.get(), stream_of(stream));
    if (product.vectors() == 1) multiply_vector(product, handle.get(), stream);
    else multiply_matrix(product, handle.get(), stream);
  });
  return true;
}

}  // namespace nd::cuda
