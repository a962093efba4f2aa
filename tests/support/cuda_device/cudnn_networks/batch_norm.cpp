// Batch normalization of the software cuDNN, by its formulas in double precision.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

#include <catena/tests/support/cuda_device/cudnn_networks/exports.h>
#include <catena/tests/support/cuda_device/cudnn_networks/tensors.h>

using namespace cuda_device::software_cudnn;

namespace {

// Of the functions with workspaces. The forward pass marks the reserve; without the mark, gradients are NaN.
constexpr std::size_t kWorkspace = 2048, kReserve = 256;
constexpr int kMark = 0x37;

using Numbers = std::vector<double>;

// Images as rows, of which each has one mean: by channels, or by elements of an image.
struct Images {
  Tensor desc;
  std::vector<int> axes;
  std::size_t rows = 1, columns = 1;

  Images(const cudnnTensorStruct& d, int mode) : desc(tensor_of(d)), axes(in_order(desc)) {
    if (mode == cudnn_batch_norm_per_activation) {
      axes.erase(axes.begin());
      axes.push_back(0);
      columns = static_cast<std::size_t>(desc.shape[0]);
    } else {
      std::swap(axes[0], axes[1]);
      columns = static_cast<std::size_t>(product(desc.shape) / desc.shape[1]);
    }
    rows = static_cast<std::size_t>(product(desc.shape)) / columns;
  }
  Numbers read(const void* data) const { return cuda_device::software_cudnn::read<double>(desc, data, axes); }
  void write(void* data, const Numbers& values, double alpha, double beta) const {
    cuda_device::software_cudnn::write(desc, data, axes, values, alpha, beta);
  }
};

// Numbers of which each row has one.
struct Statistics {
  Tensor desc;
  explicit Statistics(const cudnnTensorStruct& d) : desc(tensor_of(d)) {}
  Numbers read(const void* data) const { return cuda_device::software_cudnn::read<double>(desc, data, in_order(desc)); }
  void write(void* data, const Numbers& values, double alpha = 1, double beta = 0) const {
    if (data != nullptr) cuda_device::software_cudnn::write(desc, data, in_order(desc), values, alpha, beta);
  }
};

cudnn_status check_descriptors(int mode, std::initializer_list<cudnn_tensor_descriptor> images,
                               cudnn_tensor_descriptor statistics, double eps) {
  REQUIRE(mode >= cudnn_batch_norm_per_activation && mode <= cudnn_batch_norm_spatial_persistent);
  REQUIRE(eps >= 0);
  REQUIRE(statistics != nullptr);
  const cudnn_tensor_descriptor x = *images.begin();
  for (const cudnn_tensor_descriptor d : images) {
    REQUIRE(d != nullptr && !d->shape.empty());
    REQUIRE(d->type == x->type && d->shape == x->shape);
  }
  const std::size_t rank = x->shape.size();
  if (rank < 4 || rank > 5) return refuse(cudnn_not_supported, "images of 4 or 5 axes only");
  std::vector<int> expected = x->shape;
  expected[0] = 1;
  if (mode != cudnn_batch_norm_per_activation)
    for (std::size_t axis = 2; axis < rank; ++axis) expected[axis] = 1;
  REQUIRE(statistics->shape == expected);
  REQUIRE(statistics->type == (x->type == cudnn_double ? cudnn_double : cudnn_float));
  return cudnn_success;
}

struct Memory {
  const cudnnTensorStruct* desc;
  const void* data;
};
cudnn_status check_memory(cudnn_handle h, std::initializer_list<Memory> operands) {
  if (h == nullptr || !cuda_device::context_is_usable()) return refuse(cudnn_execution_failed);
  for (const Memory& m : operands)
    if (!cuda_device::is_device_memory(m.data, extent(*m.desc))) return refuse(cudnn_bad_param, "no device memory");
  return cudnn_success;
}
cudnn_status check_space(const void* data, std::size_t bytes, std::size_t needed) {
  REQUIRE(bytes >= needed);
  if (!cuda_device::is_device_memory(data, needed)) return refuse(cudnn_bad_param, "no device memory");
  return cudnn_success;
}
cudnn_status submit(const char* name, cudnn_handle h, std::function<void()> work) {
  return cuda_device::submit_library_work(name, h->stream, std::move(work)) ? cudnn_success
                                                                            : refuse(cudnn_execution_failed);
}
// Returns the status unless it is success.
#define CHECK(...) \
  if (const cudnn_status refused = (__VA_ARGS__); refused != cudnn_success) return refused

// ---- the formulas -------------------------------------------------------------------------------
void statistics_of(const Images& images, const Numbers& x, double eps, Numbers& mean, Numbers& variance,
                   Numbers& inv_std) {
  const auto n = static_cast<double>(images.columns);
  for (std::size_t r = 0; r < images.rows; ++r) {
    const double* const row = x.data() + r * images.columns;
    double sum = 0, squares = 0;
    for (std::size_t k = 0; k < images.columns; ++k) sum += row[k];
    for (std::size_t k = 0; k < images.columns; ++k) squares += (row[k] - sum / n) * (row[k] - sum / n);
    mean.push_back(sum / n);
    variance.push_back(squares / n);
    inv_std.push_back(1 / std::sqrt(squares / n + eps));
  }
}
Numbers normalized(const Images& images, Numbers x, const Numbers& mean, const Numbers& inv_std, const Numbers& scale,
                   const Numbers& bias) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t r = i / images.columns;
    x[i] = (x[i] - mean[r]) * inv_std[r] * scale[r] + bias[r];
  }
  return x;
}

struct Training {
  Images x, y;
  Statistics statistics;
  const void *x_data, *scale, *bias;
  void *y_data, *running_mean, *running_variance, *mean, *inv_std;
  double alpha, beta, factor, eps;

  void run() const {
    const Numbers given = x.read(x_data);
    Numbers m, v, inverse;
    statistics_of(x, given, eps, m, v, inverse);
    y.write(y_data, normalized(x, given, m, inverse, statistics.read(scale), statistics.read(bias)), alpha, beta);
    statistics.write(mean, m);
    statistics.write(inv_std, inverse);
    if (running_mean == nullptr) return;
    const auto n = static_cast<double>(x.columns);
    for (double& of_row : v) of_row *= n / (n - 1);
    statistics.write(running_mean, m, factor, 1 - factor);
    statistics.write(running_variance, v, factor, 1 - factor);
  }
};

struct Backward {
  Images x, dy, dx;
  Statistics statistics;
  const void *x_data, *dy_data, *scale, *mean, *inv_std;
  void *dx_data, *dscale, *dbias;
  double alpha, beta, alpha_parameters, beta_parameters, eps;

  void run(bool valid) const {
    const Numbers given = x.read(x_data), g = dy.read(dy_data), gamma = statistics.read(scale);
    Numbers m, v, inverse;
    if (mean == nullptr) statistics_of(x, given, eps, m, v, inverse);
    else m = statistics.read(mean), inverse = statistics.read(inv_std);
    const auto n = static_cast<double>(x.columns);
    Numbers to(given.size()), sums, products;
    for (std::size_t r = 0; r < x.rows; ++r) {
      const std::size_t first = r * x.columns;
      double sum = 0, weighted = 0;
      for (std::size_t i = first; i < first + x.columns; ++i) {
        sum += g[i];
        weighted += g[i] * (given[i] - m[r]) * inverse[r];
      }
      for (std::size_t i = first; i < first + x.columns; ++i)
        to[i] = gamma[r] * inverse[r] * (g[i] - sum / n - (given[i] - m[r]) * inverse[r] * weighted / n);
      sums.push_back(sum);
      products.push_back(weighted);
    }
    if (!valid) to.assign(to.size(), std::numeric_limits<double>::quiet_NaN());
    dx.write(dx_data, to, alpha, beta);
    statistics.write(dscale, products, alpha_parameters, beta_parameters);
    statistics.write(dbias, sums, alpha_parameters, beta_parameters);
  }
};

// The memory of the functions with workspaces.
struct Spaces {
  void* workspace = nullptr;
  std::size_t workspace_bytes = 0;
  void* reserve = nullptr;
  std::size_t reserve_bytes = 0;

  cudnn_status check() const {
    CHECK(check_space(workspace, workspace_bytes, kWorkspace));
    return check_space(reserve, reserve_bytes, kReserve);
  }
  // Overwrites the workspace, as the library does.
  void use() const {
    if (workspace != nullptr) std::memset(workspace, 0x5a, kWorkspace);
  }
  void mark() const {
    if (reserve != nullptr) std::memset(reserve, kMark, kReserve);
  }
  bool is_marked() const {
    if (reserve == nullptr) return true;
    const auto* const marks = static_cast<const unsigned char*>(reserve);
    return std::all_of(marks, marks + kReserve, [](unsigned char m) { return m == kMark; });
  }
};

cudnn_status train(const char* name, cudnn_handle h, int mode, const void* alpha, const void* beta,
                   cudnn_tensor_descriptor x_desc, const void* x, cudnn_tensor_descriptor y_desc, void* y,
                   cudnn_tensor_descriptor statistics, const void* gamma, const void* bias, double factor,
                   void* running_mean, void* running_variance, double eps, void* mean, void* inv_std,
                   const Spaces& spaces = {}) {
  CHECK(check_descriptors(mode, {x_desc, y_desc}, statistics, eps));
  REQUIRE((running_mean == nullptr) == (running_variance == nullptr));
  REQUIRE((mean == nullptr) == (inv_std == nullptr));
  CHECK(check_memory(h, {{x_desc, x}, {y_desc, y}, {statistics, gamma}, {statistics, bias}}));
  if (running_mean != nullptr) CHECK(check_memory(h, {{statistics, running_mean}, {statistics, running_variance}}));
  if (mean != nullptr) CHECK(check_memory(h, {{statistics, mean}, {statistics, inv_std}}));
  const Training t{{*x_desc, mode},
                   {*y_desc, mode},
                   Statistics(*statistics),
                   x,
                   gamma,
                   bias,
                   y,
                   running_mean,
                   running_variance,
                   mean,
                   inv_std,
                   scale(x_desc->type, alpha),
                   scale(x_desc->type, beta),
                   factor,
                   eps};
  return submit(name, h, [t, spaces] {
    spaces.use();
    t.run();
    spaces.mark();
  });
}

cudnn_status differentiate(const char* name, cudnn_handle h, int mode, const void* alpha, const void* beta,
                           const void* alpha_parameters, const void* beta_parameters, cudnn_tensor_descriptor x_desc,
                           const void* x, cudnn_tensor_descriptor dy_desc, const void* dy,
                           cudnn_tensor_descriptor dx_desc, void* dx, cudnn_tensor_descriptor statistics,
                           const void* gamma, void* dgamma, void* dbias, double eps, const void* mean,
                           const void* inv_std, const Spaces& spaces = {}) {
  CHECK(check_descriptors(mode, {x_desc, dy_desc, dx_desc}, statistics, eps));
  REQUIRE((mean == nullptr) == (inv_std == nullptr));
  CHECK(check_memory(
      h, {{x_desc, x}, {dy_desc, dy}, {dx_desc, dx}, {statistics, gamma}, {statistics, dgamma}, {statistics, dbias}}));
  if (mean != nullptr) CHECK(check_memory(h, {{statistics, mean}, {statistics, inv_std}}));
  const int type = x_desc->type;
  const Backward b{{*x_desc, mode},
                   {*dy_desc, mode},
                   {*dx_desc, mode},
                   Statistics(*statistics),
                   x,
                   dy,
                   gamma,
                   mean,
                   inv_std,
                   dx,
                   dgamma,
                   dbias,
                   scale(type, alpha),
                   scale(type, beta),
                   scale(type, alpha_parameters),
                   scale(type, beta_parameters),
                   eps};
  return submit(name, h, [b, spaces] {
    spaces.use();
    b.run(spaces.is_marked());
  });
}

// The functions with workspaces.
cudnn_status check_extended(int mode, int operations) {
  REQUIRE(mode >= cudnn_batch_norm_per_activation && mode <= cudnn_batch_norm_spatial_persistent);
  if (operations != cudnn_batch_norm_only) return refuse(cudnn_not_supported, "batch normalization alone only");
  return cudnn_success;
}
cudnn_status give_size(int mode, int operations, cudnn_tensor_descriptor x, std::size_t size, std::size_t* bytes) {
  CHECK(check_extended(mode, operations));
  REQUIRE(x != nullptr);
  *bytes = size;
  return cudnn_success;
}

}  // namespace

cudnn_status cudnnBatchNormalizationForwardTraining(cudnn_handle h, int mode, const void* alpha, const void* beta,
                                                    cudnn_tensor_descriptor x_desc, const void* x,
                                                    cudnn_tensor_descriptor y_desc, void* y,
                                                    cudnn_tensor_descriptor statistics, const void* scale_data,
                                                    const void* bias, double factor, void* running_mean,
                                                    void* running_variance, double eps, void* mean, void* inv_std) {
  CUDNN_CALL(cudnnBatchNormalizationForwardTraining);
  return train("cudnnBatchNormalizationForwardTraining", h, mode, alpha, beta, x_desc, x, y_desc, y, statistics,
               scale_data, bias, factor, running_mean, running_variance, eps, mean, inv_std);
}

cudnn_status cudnnBatchNormalizationForwardInference(cudnn_handle h, int mode, const void* alpha, const void* beta,
                                                     cudnn_tensor_descriptor x_desc, const void* x,
                                                     cudnn_tensor_descriptor y_desc, void* y,
                                                     cudnn_tensor_descriptor statistics, const void* scale_data,
                                                     const void* bias, const void* mean, const void* variance,
                                                     double eps) {
  CUDNN_CALL(cudnnBatchNormalizationForwardInference);
  CHECK(check_descriptors(mode, {x_desc, y_desc}, statistics, eps));
  CHECK(check_memory(h, {{x_desc, x},
                         {y_desc, y},
                         {statistics, scale_data},
                         {statistics, bias},
                         {statistics, mean},
                         {statistics, variance}}));
  const Images from(*x_desc, mode), to(*y_desc, mode);
  const Statistics s(*statistics);
  const double a = scale(x_desc->type, alpha), b = scale(x_desc->type, beta);
  return submit("cudnnBatchNormalizationForwardInference", h, [=] {
    Numbers inverse = s.read(variance);
    for (double& v : inverse) v = 1 / std::sqrt(v + eps);
    to.write(y, normalized(from, from.read(x), s.read(mean), inverse, s.read(scale_data), s.read(bias)), a, b);
  });
}

cudnn_status cudnnBatchNormalizationBackward(cudnn_handle h, int mode, const void* alpha_data, const void* beta_data,
                                             const void* alpha_parameters, const void* beta_parameters,
                                             cudnn_tensor_descriptor x_desc, const void* x,
                                             cudnn_tensor_descriptor dy_desc, const void* dy,
                                             cudnn_tensor_descriptor dx_desc, void* dx,
                                             cudnn_tensor_descriptor statistics, const void* scale_data, void* dscale,
                                             void* dbias, double eps, const void* mean, const void* inv_std) {
  CUDNN_CALL(cudnnBatchNormalizationBackward);
  return differentiate("cudnnBatchNormalizationBackward", h, mode, alpha_data, beta_data, alpha_parameters,
                       beta_parameters, x_desc, x, dy_desc, dy, dx_desc, dx, statistics, scale_data, dscale, dbias, eps,
                       mean, inv_std);
}

cudnn_status cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize(cudnn_handle h, int mode, int operations,
                                                                      cudnn_tensor_descriptor x,
                                                                      cudnn_tensor_descriptor, cudnn_tensor_descriptor,
                                                                      cudnn_tensor_descriptor,
                                                                      cudnn_activation_descriptor, std::size_t* bytes) {
  CUDNN_CALL(cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize);
  REQUIRE(h != nullptr);
  return give_size(mode, operations, x, kWorkspace, bytes);
}
cudnn_status cudnnGetBatchNormalizationBackwardExWorkspaceSize(cudnn_handle h, int mode, int operations,
                                                               cudnn_tensor_descriptor x, cudnn_tensor_descriptor,
                                                               cudnn_tensor_descriptor, cudnn_tensor_descriptor,
                                                               cudnn_tensor_descriptor, cudnn_tensor_descriptor,
                                                               cudnn_activation_descriptor, std::size_t* bytes) {
  CUDNN_CALL(cudnnGetBatchNormalizationBackwardExWorkspaceSize);
  REQUIRE(h != nullptr);
  return give_size(mode, operations, x, kWorkspace, bytes);
}
cudnn_status cudnnGetBatchNormalizationTrainingExReserveSpaceSize(cudnn_handle h, int mode, int operations,
                                                                  cudnn_activation_descriptor,
                                                                  cudnn_tensor_descriptor x, std::size_t* bytes) {
  CUDNN_CALL(cudnnGetBatchNormalizationTrainingExReserveSpaceSize);
  REQUIRE(h != nullptr);
  return give_size(mode, operations, x, kReserve, bytes);
}

cudnn_status cudnnBatchNormalizationForwardTrainingEx(
    cudnn_handle h, int mode, int operations, const void* alpha, const void* beta, cudnn_tensor_descriptor x_desc,
    const void* x, cudnn_tensor_descriptor z_desc, const void* z, cudnn_tensor_descriptor y_desc, void* y,
    cudnn_tensor_descriptor statistics, const void* scale_data, const void* bias, double factor, void* running_mean,
    void* running_variance, double eps, void* mean, void* inv_std, cudnn_activation_descriptor activation,
    void* workspace, std::size_t workspace_bytes, void* reserve, std::size_t reserve_bytes) {
  CUDNN_CALL(cudnnBatchNormalizationForwardTrainingEx);
  CHECK(check_extended(mode, operations));
  REQUIRE(z_desc == nullptr && z == nullptr && activation == nullptr);
  const Spaces spaces{workspace, workspace_bytes, reserve, reserve_bytes};
  CHECK(spaces.check());
  return train("cudnnBatchNormalizationForwardTrainingEx", h, mode, alpha, beta, x_desc, x, y_desc, y, statistics,
               scale_data, bias, factor, running_mean, running_variance, eps, mean, inv_std, spaces);
}

cudnn_status cudnnBatchNormalizationBackwardEx(
    cudnn_handle h, int mode, int operations, const void* alpha_data, const void* beta_data,
    const void* alpha_parameters, const void* beta_parameters, cudnn_tensor_descriptor x_desc, const void* x,
    cudnn_tensor_descriptor, const void*, cudnn_tensor_descriptor dy_desc, const void* dy, cudnn_tensor_descriptor,
    void* dz, cudnn_tensor_descriptor dx_desc, void* dx, cudnn_tensor_descriptor statistics, const void* scale_data,
    const void*, void* dscale, void* dbias, double eps, const void* mean, const void* inv_std,
    cudnn_activation_descriptor activation, void* workspace, std::size_t workspace_bytes, void* reserve,
    std::size_t reserve_bytes) {
  CUDNN_CALL(cudnnBatchNormalizationBackwardEx);
  CHECK(check_extended(mode, operations));
  REQUIRE(dz == nullptr && activation == nullptr);
  const Spaces spaces{workspace, workspace_bytes, reserve, reserve_bytes};
  CHECK(spaces.check());
  return differentiate("cudnnBatchNormalizationBackwardEx", h, mode, alpha_data, beta_data, alpha_parameters,
                       beta_parameters, x_desc, x, dy_desc, dy, dx_desc, dx, statistics, scale_data, dscale, dbias, eps,
                       mean, inv_std, spaces);
}
