// Activations by cuDNN of the software device, computed by their formulas in double precision.
#include <cmath>
#include <vector>

#include <catena/tests/support/cuda_device/cudnn.h>

using namespace cuda_device::software_cudnn;

namespace cuda_device::exports {
#define CATENA_TYPE(symbol, field, ...) using symbol##_type = __VA_ARGS__;
CATENA_CUDNN_UTILITY_CALLS(CATENA_TYPE)
#undef CATENA_TYPE
}  // namespace cuda_device::exports
extern "C" {
#define CATENA_DECLARE(symbol, field, ...) CATENA_EXPORT cuda_device::exports::symbol##_type symbol;
CATENA_CUDNN_UTILITY_CALLS(CATENA_DECLARE)
#undef CATENA_DECLARE
}

namespace {

double activate(const cudnnActivationStruct& a, double x) {
  switch (a.mode) {
    case cudnn_sigmoid: return 1 / (1 + std::exp(-x));
    case cudnn_relu: return x > 0 ? x : 0;
    case cudnn_tanh: return std::tanh(x);
    default: return x > a.coef ? a.coef : x > 0 ? x : 0;
  }
}
double derivative(const cudnnActivationStruct& a, double x, double y) {
  switch (a.mode) {
    case cudnn_sigmoid: return y * (1 - y);
    case cudnn_relu: return x > 0;
    case cudnn_tanh: return 1 - y * y;
    default: return x > 0 && x < a.coef;
  }
}

// A tensor of a call with its memory.
struct Operand {
  cudnnTensorStruct desc;
  const void* data;
  bool fits(const Operand& o) const { return desc.type == o.desc.type && desc.shape == o.desc.shape; }
};

// Computes to = alpha * value(i) + beta * to, where `value` reads the operands as numbers.
template <class Value>
cudnn_status submit(cudnn_handle h, const char* name, const void* alpha, const void* beta, std::vector<Operand> from,
                    const cudnnTensorStruct& to_desc, void* to, Value value) {
  if (h == nullptr || !cuda_device::context_is_usable()) return refuse(cudnn_execution_failed);
  const Operand target{to_desc, to};
  for (const Operand& o : from) {
    if (!o.fits(target)) return refuse(cudnn_bad_param, "tensors of several types or shapes");
    if (!cuda_device::is_device_memory(o.data, extent(o.desc))) return refuse(cudnn_bad_param, "no device memory");
  }
  if (!cuda_device::is_device_memory(to, extent(to_desc))) return refuse(cudnn_bad_param, "no device memory");
  const double a = scale(to_desc.type, alpha), b = scale(to_desc.type, beta);
  const auto work = [=] {
    with_type(to_desc.type, [&]<class T>(T) {
      for (std::size_t i = 0; i < count_of(to_desc); ++i) {
        const auto at = [&](std::size_t k) {
          return static_cast<double>(element<const T>(from[k].desc, from[k].data, i));
        };
        T& result = element<T>(to_desc, to, i);
        result = T(a * value(at) + (b == 0 ? 0 : b * static_cast<double>(result)));
      }
    });
  };
  return cuda_device::submit_library_work(name, h->stream, work) ? cudnn_success : refuse(cudnn_execution_failed);
}

}  // namespace

cudnn_status cudnnActivationForward(cudnn_handle h, cudnn_activation_descriptor d, const void* alpha,
                                    cudnn_tensor_descriptor x_desc, const void* x, const void* beta,
                                    cudnn_tensor_descriptor y_desc, void* y) {
  CUDNN_CALL(cudnnActivationForward);
  REQUIRE(d != nullptr && x_desc != nullptr && y_desc != nullptr);
  return submit(h, "cudnnActivationForward", alpha, beta, {{*x_desc, x}}, *y_desc, y,
                [a = *d](const auto& at) { return activate(a, at(0)); });
}
cudnn_status cudnnActivationBackward(cudnn_handle h, cudnn_activation_descriptor d, const void* alpha,
                                     cudnn_tensor_descriptor y_desc, const void* y, cudnn_tensor_descriptor dy_desc,
                                     const void* dy, cudnn_tensor_descriptor x_desc, const void* x, const void* beta,
                                     cudnn_tensor_descriptor dx_desc, void* dx) {
  CUDNN_CALL(cudnnActivationBackward);
  REQUIRE(d != nullptr && x_desc != nullptr && y_desc != nullptr && dy_desc != nullptr && dx_desc != nullptr);
  return submit(h, "cudnnActivationBackward", alpha, beta, {{*y_desc, y}, {*dy_desc, dy}, {*x_desc, x}}, *dx_desc, dx,
                [a = *d](const auto& at) { return at(1) * derivative(a, at(2), at(0)); });
}
