// Of the cuDNN for tests: the opaque types, the record of the calls, and memory in the order of the handle's stream.
#pragma once

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <catena/autograd/backend/backend.h>
#include <catena/autograd/ndarray_backend/cudnn/library.h>
#include <catena/autograd/nn_extension.h>
#include <catena/ndarray/cuda/runtime/context.h>
#include <catena/ndarray/cuda/runtime/graph.h>
#include <catena/ndarray/device/device.h>

namespace fake_cudnn {

using autograd::Array;
using autograd::Dims;
using autograd::Dtype;
using autograd::Shape;

// A tensor as it was described: lengths and strides in elements.
struct Described {
  int type = 0;
  Shape shape;
  Dims strides;
};

}  // namespace fake_cudnn

// The library's opaque types.
struct cudnnContext {
  CUstream_st* stream = nullptr;
};
struct cudnnTensorStruct : fake_cudnn::Described {};
struct cudnnRNNStruct {
  autograd::RnnSpec spec;
  int type = 0, math = 0;
  std::int64_t inputs = 0, units = 0;
};
struct cudnnRNNDataStruct {
  int type = 0;
  std::vector<std::int64_t> batches;
  std::int64_t rows = 0, width = 0, sequences = 0;
};

namespace fake_cudnn {

namespace api = nd::cuda::api;
using Status = api::cudnn_status;

constexpr Status kBadParameter = 2000;

// Settings and counters of the tests.
struct Record {
  std::vector<std::string> calls;  // that put work on a stream
  std::vector<int> engines;        // of the graphs that were executed
  int live = 0;                    // descriptors outside the graph interface
  std::string refuse;              // the call that is answered with `refusal`, until the test takes it back
  Status refusal = 0;
  int math = -1;                  // of the last network
  std::size_t places = 0;         // of matrices in weight spaces, that were asked for
  CUstream_st* stream = nullptr;  // of the last call
};
inline Record& record() {
  static Record r;
  return r;
}

struct Refusal {
  Status status;
  std::string words;
};
inline thread_local std::string last_words;

inline void require(bool holds, const std::string& words) {
  if (!holds) throw Refusal{kBadParameter, words};
}
template <class F> Status answer(F&& f) {
  try {
    f();
    return api::cudnn_success;
  } catch (const Refusal& r) {
    last_words = r.words;
    return r.status;
  }
}
// A call that does work.
template <class F> Status work(const char* name, cudnnContext* handle, F&& f) {
  return answer([&] {
    require(handle != nullptr, "no handle");
    if (record().refuse == name) throw Refusal{record().refusal, "as the test asked"};
    f();
    record().calls.push_back(name);
    record().stream = handle->stream;
  });
}

// A descriptor.
template <class T> Status create(T** to) {
  *to = new T;
  ++record().live;
  return api::cudnn_success;
}
template <class T> Status destroy(T* d) {
  delete d;
  --record().live;
  return api::cudnn_success;
}

// ---- memory -------------------------------------------------------------------------------------
inline Dtype dtype_of(int type) {
  switch (type) {
    case api::cudnn_float: return Dtype::float32;
    case api::cudnn_double: return Dtype::float64;
    case api::cudnn_half: return Dtype::float16;
    case api::cudnn_bfloat16: return Dtype::bfloat16;
    default: throw Refusal{kBadParameter, "an unknown type"};
  }
}

inline std::vector<std::byte> fetch(cudnnContext* handle, const void* from, std::size_t bytes) {
  require(from != nullptr, "a null address");
  std::vector<std::byte> to(bytes);
  CATENA_CU(copy_to_host_async, to.data(), nd::cuda::address_of(from), bytes, handle->stream);
  CATENA_CU(stream_synchronize, handle->stream);
  return to;
}
inline void send(cudnnContext* handle, void* to, const void* from, std::size_t bytes) {
  require(to != nullptr, "a null address");
  CATENA_CU(copy_to_device_async, nd::cuda::address_of(to), from, bytes, handle->stream);
  CATENA_CU(stream_synchronize, handle->stream);
}

// The elements that a description spans.
inline std::int64_t span_of(const Described& d) {
  std::int64_t last = 0;
  for (int i = 0; i < d.shape.size(); ++i) last += (d.shape[i] - 1) * d.strides[i];
  return last + 1;
}
inline Array as_described(const Array& flat, const Described& d) {
  catena::Strides strides = d.strides;
  for (std::int64_t& s : strides) s *= std::int64_t(catena::itemsize(flat.dtype()));
  return flat.backend().view(flat, d.shape, strides, 0);
}
// On the host, in float64.
inline Array get(cudnnContext* handle, const Described& d, const void* from) {
  const Dtype dtype = dtype_of(d.type);
  const std::vector<std::byte> bytes = fetch(handle, from, std::size_t(span_of(d)) * catena::itemsize(dtype));
  const Array flat = autograd::from_host(bytes.data(), {span_of(d)}, dtype, nd::cpu_device);
  return autograd::astype(autograd::copy(as_described(flat, d)), Dtype::float64);
}
inline void put(cudnnContext* handle, const Described& d, void* to, const Array& values) {
  const Array flat = autograd::arrays::full({span_of(d)}, 0, dtype_of(d.type), nd::cpu_device);
  require(values.shape() == d.shape, "a result of another shape than its tensor");
  autograd::assign(as_described(flat, d), values);
  std::vector<std::byte> bytes(std::size_t(flat.size()) * catena::itemsize(flat.dtype()));
  autograd::to_host(flat, bytes.data());
  send(handle, to, bytes.data(), bytes.size());
}
inline Described packed(int type, const Shape& shape) {
  Dims strides = Dims::filled(shape.size(), 1);
  for (int i = shape.size() - 2; i >= 0; --i) strides[i] = strides[i + 1] * shape[i + 1];
  return {type, shape, strides};
}

// Work space may be used: all of it.
inline void use(cudnnContext* handle, void* space, std::size_t bytes) {
  if (bytes == 0) return;
  const std::vector<std::byte> junk(bytes, std::byte{0x5a});
  send(handle, space, junk.data(), bytes);
}

}  // namespace fake_cudnn
