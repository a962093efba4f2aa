#include <catena/ndarray/cuda/vendor/cudnn.h>

#include <array>
#include <initializer_list>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include <catena/kernels/base/error.h>
#include <catena/ndarray/core/storage.h>
#include <catena/ndarray/cuda/runtime/context.h>
#include <catena/ndarray/cuda/runtime/handle_pool.h>
#include <catena/ndarray/cuda/runtime/launch.h>
#include <catena/ndarray/cuda/vendor/handles.h>
#include <catena/ndarray/cuda/vendor/vendor.h>
#include <catena/ndarray/device/device.h>
#include <catena/ndarray/engine/execute.h>

namespace nd::cuda {
namespace {

void load_cudnn(Cudnn& table) {
  const Library library = open_cudnn(table.version);
  CATENA_CUDNN_UTILITY_FUNCTIONS(CATENA_RESOLVE)
  table.path = library.path();
}

}  // namespace

const Cudnn& cudnn_library() {
  static const auto& loaded = *new Loaded<Cudnn>(load_cudnn);
  return loaded.get();
}

Library open_cudnn(std::size_t& version) {
  Library library({"cuDNN", {"libcudnn.so.9", "libcudnn.so"}, "CUDNN_PATH"});
  version = reinterpret_cast<std::size_t (*)()>(library.function(api::CudnnUtilityNames::get_version))();
  if (version < 90000)
    catena::fail<catena::RuntimeError>("cuDNN is unavailable", library.path(), " is version ", version,
                                       ", 9 or newer is needed");
  return library;
}

void fail_cudnn(api::cudnn_status status, const char* call, const char* (*error_string)(api::cudnn_status),
                void (*last_error_string)(char*, std::size_t)) {
  const char* const symbol = error_string(status);
  std::array<char, 512> text{};
  last_error_string(text.data(), text.size());
  std::string words(text.data());
  while (!words.empty() && (words.back() == '\n' || words.back() == ' ')) words.pop_back();
  const bool memory = status == api::cudnn_host_allocation_failed || status == api::cudnn_device_allocation_failed;
  fail_vendor({"cuDNN", status, symbol != nullptr ? symbol : "unknown status", memory},
              words.empty() ? std::string(call) : catena::concat(call, ": ", words));
}

namespace cudnn {

using catena::check;
using catena::RuntimeError;
using catena::TypeError;
using catena::ValueError;

const api::CudnnUtilities& Library::table() {
  const Cudnn& library = cudnn_library();
  if (const Device device = current_device(); device.kind == Device::Kind::cuda) use_device(device.id);
  else if (is_available(Device::Kind::cuda)) use_device(0);
  return library;
}

void Library::check(api::cudnn_status status, const char* call) {
  if (status == api::cudnn_success) [[likely]]
    return;
  const Cudnn& library = cudnn_library();
  fail_cudnn(status, call, library.get_error_string, library.get_last_error_string);
}
// Calls a function of the table that needs no device, or the device of an array that is current already.
#define CATENA_CUDNN_CALL(field, ...) Library::check(cudnn_library().field(__VA_ARGS__), api::CudnnUtilityNames::field)

std::size_t get_version() { return cudnn_library().version; }

api::cudnn_handle get_handle() {
  const Device device = current_device();
  check<RuntimeError>(device.kind == Device::Kind::cuda, "cudnn::get_handle", "the CPU has no cuDNN");
  return cudnn_handle_of(device.id);
}

int get_data_type(Dtype dtype) {
  switch (dtype) {
    case Dtype::float16: return api::cudnn_half;
    case Dtype::bfloat16: return api::cudnn_bfloat16;
    case Dtype::float32: return api::cudnn_float;
    case Dtype::float64: return api::cudnn_double;
    default: catena::fail<TypeError>("cudnn::get_data_type", "cuDNN has no type for arrays of dtype ", dtype);
  }
}

// ---- descriptors --------------------------------------------------------------------------------
namespace {

// Returns the type in which cuDNN computes with elements of this dtype.
int compute_type(Dtype dtype) {
  const int type = get_data_type(dtype);
  return type == api::cudnn_double ? type : api::cudnn_float;
}

// Destroys a descriptor before the objects that it refers to. The status is ignored.
template <class T, class... Kept> class Owner {
 public:
  Owner(T* made, api::cudnn_status (*destroy)(T*), Kept... kept)
      : kept_(std::move(kept)...), made_(made), destroy_(destroy) {}
  Owner(Owner&& o) noexcept : kept_(std::move(o.kept_)), made_(std::exchange(o.made_, nullptr)), destroy_(o.destroy_) {}
  Owner& operator=(Owner&&) = delete;
  ~Owner() {
    if (made_ != nullptr) destroy_(made_);
  }

 private:
  std::tuple<Kept...> kept_;
  T* made_;
  api::cudnn_status (*destroy_)(T*);
};
template <class T, class... Kept>
Descriptor<T> own(api::cudnn_status (*create)(T**), api::cudnn_status (*destroy)(T*), const char* call, Kept... kept) {
  T* made = nullptr;
  Library::check(create(&made), call);
  return Descriptor<T>(catena::Shared<T>::kept_by(made, Owner<T, Kept...>(made, destroy, std::move(kept)...)));
}
#define CATENA_CUDNN_OWN(field, ...)                                   \
  own(cudnn_library().create_##field, cudnn_library().destroy_##field, \
      api::CudnnUtilityNames::create_##field __VA_OPT__(, ) __VA_ARGS__)

using Integers = std::vector<int>;

int to_int(const char* op, const char* what, std::int64_t value) {
  check<ValueError>(value >= std::numeric_limits<int>::min() && value <= std::numeric_limits<int>::max(), op, what, " ",
                    value, " does not fit in 32 bits");
  return static_cast<int>(value);
}
template <class List> Integers to_ints(const char* op, const char* what, const List& values) {
  Integers result;
  for (const std::int64_t value : values) result.push_back(to_int(op, what, value));
  return result;
}

void check_array(const char* op, const Array& a) {
  check<ValueError>(!a.is_null(), op, "the array is null");
  check<ValueError>(a.is_c_contiguous(), op, "the array of shape ", a.shape(), " and strides ", a.strides(),
                    " must be C-contiguous");
}

// Returns the strides, in elements, of dense elements; the axes of nhwc are in memory as (n, spatial axes, c).
Dims strides_of(const Shape& shape, TensorFormat format) {
  Dims strides = Dims::filled(shape.size(), 1);
  std::int64_t step = 1;
  const auto place = [&](int axis) {
    strides[axis] = step;
    step *= shape[axis];
  };
  const bool last = format == TensorFormat::nhwc && shape.size() > 2;
  if (last) place(1);
  for (int axis = shape.size() - 1; axis >= 0; --axis)
    if (!last || axis != 1) place(axis);
  return strides;
}

TensorDescriptor tensor_descriptor(const char* op, Dtype dtype, const Shape& shape, TensorFormat format) {
  const int type = get_data_type(dtype);
  const Integers lengths = to_ints(op, "the length", shape),
                 steps = to_ints(op, "the stride", strides_of(shape, format));
  TensorDescriptor made = CATENA_CUDNN_OWN(tensor);
  CATENA_CUDNN_CALL(set_tensor, made.value(), type, shape.size(), lengths.data(), steps.data());
  return made;
}

void check_ratio(const char* op, double dropout) {
  check<ValueError>(dropout >= 0 && dropout <= 1, op, "the ratio ", dropout, " must be 0 to 1");
}

}  // namespace

TensorDescriptor create_tensor_descriptor(const Array& arr, TensorFormat format) {
  constexpr const char* op = "cudnn::create_tensor_descriptor";
  check_array(op, arr);
  return tensor_descriptor(op, arr.dtype(), arr.shape(), format);
}

TensorDescriptor create_uninitialized_tensor_descriptor() { return CATENA_CUDNN_OWN(tensor); }

FilterDescriptor create_filter_descriptor(const Array& arr, TensorFormat format) {
  constexpr const char* op = "cudnn::create_filter_descriptor";
  check_array(op, arr);
  const int type = get_data_type(arr.dtype());
  const Integers lengths = to_ints(op, "the length", arr.shape());
  FilterDescriptor made = CATENA_CUDNN_OWN(filter);
  CATENA_CUDNN_CALL(set_filter, made.value(), type, static_cast<int>(format), arr.ndim(), lengths.data());
  return made;
}

ConvolutionDescriptor create_convolution_descriptor(const Dims& pad, const Dims& stride, Dtype dtype,
                                                    ConvolutionMode mode) {
  constexpr const char* op = "cudnn::create_convolution_descriptor";
  check<ValueError>(pad.size() == stride.size(), op, "pad ", pad, " and stride ", stride, " must be of one length");
  const int type = compute_type(dtype);
  const Integers pads = to_ints(op, "the padding", pad), strides = to_ints(op, "the stride", stride),
                 dilations(static_cast<std::size_t>(pad.size()), 1);
  ConvolutionDescriptor made = CATENA_CUDNN_OWN(convolution);
  CATENA_CUDNN_CALL(set_convolution, made.value(), pad.size(), pads.data(), strides.data(), dilations.data(),
                    static_cast<int>(mode), type);
  return made;
}

PoolingDescriptor create_pooling_descriptor(const Dims& ksize, const Dims& stride, const Dims& pad, PoolingMode mode) {
  constexpr const char* op = "cudnn::create_pooling_descriptor";
  check<ValueError>(ksize.size() == stride.size() && ksize.size() == pad.size(), op, "ksize ", ksize, ", stride ",
                    stride, " and pad ", pad, " must be of one length");
  const Integers windows = to_ints(op, "the window", ksize), strides = to_ints(op, "the stride", stride),
                 pads = to_ints(op, "the padding", pad);
  PoolingDescriptor made = CATENA_CUDNN_OWN(pooling);
  CATENA_CUDNN_CALL(set_pooling, made.value(), static_cast<int>(mode), api::cudnn_not_propagate_nan, ksize.size(),
                    windows.data(), pads.data(), strides.data());
  return made;
}

ActivationDescriptor create_activation_descriptor(ActivationMode mode, double coef) {
  ActivationDescriptor made = CATENA_CUDNN_OWN(activation);
  CATENA_CUDNN_CALL(set_activation, made.value(), static_cast<int>(mode), api::cudnn_not_propagate_nan, coef);
  return made;
}

Array create_dropout_states(api::cudnn_handle handle) {
  constexpr const char* op = "cudnn::create_dropout_states";
  const Device device = current_device();
  check<RuntimeError>(device.kind == Device::Kind::cuda, op, "the CPU has no cuDNN");
  const std::size_t bytes = get_dropout_states_size(handle);
  return Array(nd::internal::new_array({static_cast<std::int64_t>(bytes)}, Dtype::int8, device, op));
}

DropoutDescriptor create_dropout_descriptor(api::cudnn_handle handle, double dropout, const Array& states,
                                            std::size_t state_size_in_bytes, std::uint64_t seed) {
  constexpr const char* op = "cudnn::create_dropout_descriptor";
  check_ratio(op, dropout);
  check_array(op, states);
  const Device device = current_device();
  check<ValueError>(device.kind == Device::Kind::cuda && states.device() == device, op, "the states are on ",
                    states.device(), ", the current device is ", device, "; they must be on it, and it a cuda device");
  check<ValueError>(state_size_in_bytes <= states.nbytes(), op, "the states have ", states.nbytes(), " bytes, not ",
                    state_size_in_bytes);
  const StreamRef stream = nd::internal::stream_for(device);
  set_stream(handle, stream_of(stream));
  DropoutDescriptor made = CATENA_CUDNN_OWN(dropout, states);
  const catena::ArrayHeader* const written[] = {states.get()};
  nd::internal::launch_on(stream, {}, written, [&] {
    enqueue(api::CudnnUtilityNames::set_dropout, stream, {static_cast<std::int64_t>(state_size_in_bytes)}, [&] {
      CATENA_CUDNN_CALL(set_dropout, made.value(), handle, static_cast<float>(dropout), states->data,
                        state_size_in_bytes, seed);
    });
  });
  return made;
}

void set_dropout_descriptor(const DropoutDescriptor& desc, api::cudnn_handle handle, double dropout) {
  constexpr const char* op = "cudnn::set_dropout_descriptor";
  check<ValueError>(static_cast<bool>(desc), op, "the descriptor is null");
  check_ratio(op, dropout);
  set_dropout(desc.value(), handle, static_cast<float>(dropout), nullptr, 0, 0);  // null keeps the states
}

RnnDescriptor create_rnn_descriptor(std::int64_t hidden_size, std::int64_t num_layers,
                                    const DropoutDescriptor& dropout_desc, RnnInputMode input_mode,
                                    DirectionMode direction, RnnMode mode, Dtype dtype, std::int64_t input_size) {
  constexpr const char* op = "cudnn::create_rnn_descriptor";
  if (input_size == 0) input_size = hidden_size;
  check<ValueError>(hidden_size > 0 && num_layers > 0 && input_size > 0, op, "hidden_size ", hidden_size,
                    ", num_layers ", num_layers, " and input_size ", input_size, " must be positive");
  check<ValueError>(input_mode != RnnInputMode::skip || input_size == hidden_size, op, "input_size ", input_size,
                    " must be hidden_size ", hidden_size, " where the input is not multiplied by a matrix");
  const int type = get_data_type(dtype), units = to_int(op, "hidden_size", hidden_size),
            layers = to_int(op, "num_layers", num_layers), inputs = to_int(op, "input_size", input_size);
  RnnDescriptor made = CATENA_CUDNN_OWN(rnn, dropout_desc);
  CATENA_CUDNN_CALL(set_rnn, made.value(), api::cudnn_rnn_standard, static_cast<int>(mode), api::cudnn_rnn_double_bias,
                    static_cast<int>(direction), static_cast<int>(input_mode), type, compute_type(dtype),
                    api::cudnn_default_math, inputs, units, units, layers, dropout_desc.value(), 0);
  return made;
}

SpatialTransformerDescriptor create_spatial_transformer_descriptor(SamplerType sampler_type, Dtype dtype,
                                                                   std::int64_t nb_dims, const Shape& dim_a) {
  constexpr const char* op = "cudnn::create_spatial_transformer_descriptor";
  check<ValueError>(nb_dims == dim_a.size(), op, "dim_a ", dim_a, " must have nb_dims = ", nb_dims, " elements");
  const int type = get_data_type(dtype);
  const Integers lengths = to_ints(op, "the length", dim_a);
  SpatialTransformerDescriptor made = CATENA_CUDNN_OWN(spatial_transformer);
  CATENA_CUDNN_CALL(set_spatial_transformer, made.value(), static_cast<int>(sampler_type), type, dim_a.size(),
                    lengths.data());
  return made;
}

// ---- activations --------------------------------------------------------------------------------
namespace {

using Pool = HandlePool<api::cudnn_handle>;
Pool::Lease lease_handle(int device) {
  static auto& pool = *new Pool(driver().device_count);
  use_device(device);
  return pool.lease(device, [] {
    api::cudnn_handle handle = nullptr;
    CATENA_CUDNN_CALL(create, &handle);
    return handle;
  });
}

// Returns cuDNN's axes for arrays of any rank: (n, all others, 1, 1).
Shape as_4d(const Shape& shape) {
  if (shape.size() == 0) return {1, 1, 1, 1};
  std::int64_t others = 1;
  for (int axis = 1; axis < shape.size(); ++axis) others *= shape[axis];
  return {shape[0], others, 1, 1};
}

// alpha and beta of "alpha * result + beta * previous content", in the type in which cuDNN reads them.
struct Scales {
  explicit Scales(const Array& x) : wide(!x.is_null() && x.dtype() == Dtype::float64) {}
  const void* one() const { return wide ? static_cast<const void*>(&one64) : &one32; }
  const void* zero() const { return wide ? static_cast<const void*>(&zero64) : &zero32; }
  bool wide;
  static constexpr double one64 = 1, zero64 = 0;
  static constexpr float one32 = 1, zero32 = 0;
};

// Computes an activation. The first operand is x; the operands are in the order of cuDNN's parameters for addresses.
template <class Call>
Array activate(const char* op, const char* name, std::initializer_list<Array> operands, ActivationMode mode,
               double coef, Call&& call) {
  const Array& x = *operands.begin();
  constexpr const char* names[] = {"x", "y", "gy"};
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const Array& a = operands.begin()[i];
    check<ValueError>(!a.is_null(), op, names[i], " is null");
    check<ValueError>(a.device().kind == Device::Kind::cuda, op, names[i], " is on ", a.device(),
                      ", not on a cuda device");
    check<ValueError>(a.device() == x.device(), op, "x is on ", x.device(), ", ", names[i], " is on ", a.device());
    check<ValueError>(a.shape() == x.shape(), op, "x ", x.shape(), " and ", names[i], " ", a.shape(),
                      " must have one shape");
    check<TypeError>(a.dtype() == x.dtype(), op, "x is ", x.dtype(), ", ", names[i], " is ", a.dtype(),
                     "; they must agree");
  }
  static_cast<void>(get_data_type(x.dtype()));  // a TypeError for arrays without elements, too
  const ActivationDescriptor described = create_activation_descriptor(mode, coef);
  const Array result(nd::internal::new_array(x.shape(), x.dtype(), x.device(), op));
  if (x.size() == 0) return result;  // cuDNN has no empty tensors
  const TensorDescriptor tensor = tensor_descriptor(op, x.dtype(), as_4d(x.shape()), TensorFormat::nchw);
  std::vector<Array> given;
  std::vector<const catena::ArrayHeader*> reads;
  for (const Array& a : operands) {
    given.push_back(a.is_c_contiguous() ? a : a.copy());
    reads.push_back(given.back().get());
  }
  const StreamRef stream = nd::internal::stream_for(x.device());
  const Pool::Lease handle = lease_handle(x.device().id);
  CATENA_CUDNN_CALL(set_stream, handle.get(), stream_of(stream));
  const catena::ArrayHeader* const writes[] = {result.get()};
  nd::internal::launch_on(stream, reads, writes, [&] {
    enqueue(name, stream, {x.size()}, [&] { call(handle.get(), described.value(), tensor.value(), given, result); });
  });
  return result;
}

}  // namespace

Array activation_forward(const Array& x, ActivationMode mode, double coef) {
  const Scales scales(x);
  return activate("cudnn::activation_forward", api::CudnnUtilityNames::activation, {x}, mode, coef,
                  [&](auto handle, auto described, auto tensor, const auto& given, const Array& y) {
                    CATENA_CUDNN_CALL(activation, handle, described, scales.one(), tensor, given[0]->data,
                                      scales.zero(), tensor, y->data);
                  });
}

Array activation_backward(const Array& x, const Array& y, const Array& gy, ActivationMode mode, double coef) {
  const Scales scales(x);
  return activate("cudnn::activation_backward", api::CudnnUtilityNames::activation_gradient, {x, y, gy}, mode, coef,
                  [&](auto handle, auto described, auto tensor, const auto& given, const Array& gx) {
                    CATENA_CUDNN_CALL(activation_gradient, handle, described, scales.one(), tensor, given[1]->data,
                                      tensor, given[2]->data, tensor, given[0]->data, scales.zero(), tensor, gx->data);
                  });
}

}  // namespace cudnn
}  // namespace nd::cuda
