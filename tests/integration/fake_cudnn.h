// A cuDNN for tests: it checks what its functions are given as the library does, keeps a record of the calls, and
// computes the results on the host with the portable implementation. Everything is read and written through the driver,
// in the order of the handle's stream.
#pragma once

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

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

// What the tests ask for and look at.
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
  const Array flat = autograd::full({span_of(d)}, 0, dtype_of(d.type), nd::cpu_device);
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

// ---- the graph interface ------------------------------------------------------------------------
struct Node {
  int type = 0;
  bool final = false;
  std::map<int, std::vector<std::byte>> attributes;
  const Node* graph = nullptr;  // of configurations and what is made of them
  int engine = 0;

  template <class T> std::vector<T> list(int name) const {
    const auto found = attributes.find(name);
    require(found != attributes.end(), "attribute " + std::to_string(name) + " is missing");
    std::vector<T> values(found->second.size() / sizeof(T));
    std::memcpy(values.data(), found->second.data(), found->second.size());
    return values;
  }
  template <class T> T one(int name) const {
    const std::vector<T> values = list<T>(name);
    require(values.size() == 1, "attribute " + std::to_string(name) + " is not single");
    return values[0];
  }
  const Node& node(int name) const {
    const Node& n = *static_cast<const Node*>(one<void*>(name));
    require(n.final, "attribute " + std::to_string(name) + " is not finalised");
    return n;
  }
  Dims integers(int name) const { return Dims(std::span<const std::int64_t>(list<std::int64_t>(name))); }
};

inline std::size_t bytes_of(int type) {
  switch (type) {
    case api::cudnn_type_boolean:
    case api::cudnn_type_char: return 1;
    case api::cudnn_type_handle:
    case api::cudnn_type_int64:
    case api::cudnn_type_double:
    case api::cudnn_type_void_ptr:
    case api::cudnn_type_descriptor: return 8;
    default: return 4;
  }
}

inline Described described(const Node& tensor) {
  require(tensor.type == api::cudnn_tensor, "no tensor");
  return {tensor.one<int>(api::cudnn_attr_tensor_data_type), tensor.integers(api::cudnn_attr_tensor_dimensions),
          tensor.integers(api::cudnn_attr_tensor_strides)};
}

// The addresses of a variant pack, by the numbers of tensors.
struct Bindings {
  cudnnContext* handle;
  std::map<std::int64_t, void*> addresses;

  void* at(const Node& tensor) const {
    const auto found = addresses.find(tensor.one<std::int64_t>(api::cudnn_attr_tensor_id));
    require(found != addresses.end(), "a tensor without an address");
    require(reinterpret_cast<std::uintptr_t>(found->second) %
                    std::size_t(tensor.one<std::int64_t>(api::cudnn_attr_tensor_alignment)) ==
                0,
            "an address that is not aligned");
    return found->second;
  }
  Array get(const Node& tensor) const { return fake_cudnn::get(handle, described(tensor), at(tensor)); }
  void put(const Node& tensor, const Array& values) const {
    fake_cudnn::put(handle, described(tensor), at(tensor), values);
  }
};

inline Dims spatial(const Shape& s) {
  return Dims(std::span<const std::int64_t>(s.data() + 2, std::size_t(s.size() - 2)));
}

inline void run_convolution(const std::vector<const Node*>& ops, const Bindings& bound) {
  const Node& op = *ops[0];
  const bool data = op.type == api::cudnn_operation_convolution_data,
             filter = op.type == api::cudnn_operation_convolution_filter;
  const auto node = [&](int forward, int of_data, int of_filter) -> const Node& {
    return op.node(data ? of_data : filter ? of_filter : forward);
  };
  const Node& c =
      node(api::cudnn_attr_forward_convolution, api::cudnn_attr_data_convolution, api::cudnn_attr_filter_convolution);
  const Node& x = node(api::cudnn_attr_forward_x, api::cudnn_attr_data_dx, api::cudnn_attr_filter_x);
  const Node& w = node(api::cudnn_attr_forward_w, api::cudnn_attr_data_w, api::cudnn_attr_filter_dw);
  const Node& y = node(api::cudnn_attr_forward_y, api::cudnn_attr_data_dy, api::cudnn_attr_filter_dy);
  autograd::ConvolutionSpec spec;
  spec.stride = c.integers(api::cudnn_attr_convolution_strides);
  spec.dilate = c.integers(api::cudnn_attr_convolution_dilations);
  spec.pad = c.integers(api::cudnn_attr_convolution_pre_paddings);
  spec.groups = described(x).shape[1] / described(w).shape[1];
  autograd::NnExtension& nn = autograd::portable_nn_extension();
  if (data)
    return bound.put(x, nn.convolution_backward_data(bound.get(w), bound.get(y), spatial(described(x).shape), spec));
  if (filter)
    return bound.put(w, nn.convolution_backward_filter(bound.get(x), bound.get(y), spatial(described(w).shape),
                                                       Dtype::float64, spec));
  Array made = nn.convolution(bound.get(x), bound.get(w), {}, spec);
  if (ops.size() == 1) return bound.put(y, made);
  made += bound.get(ops[1]->node(api::cudnn_attr_operation_pointwise_b));
  bound.put(ops[1]->node(api::cudnn_attr_operation_pointwise_y), made);
}

// Every graph has these engines, best first; the sums of the first are not deterministic.
constexpr std::int64_t kEngineWorkspace[] = {4096, 1024, 96};

inline void execute(cudnnContext* handle, const Node& plan, const Node& pack) {
  require(plan.final && pack.final, "a plan or a pack that is not finalised");
  const std::vector<std::int64_t> ids = pack.list<std::int64_t>(api::cudnn_attr_pack_ids);
  const std::vector<void*> pointers = pack.list<void*>(api::cudnn_attr_pack_pointers);
  require(ids.size() == pointers.size(), "as many numbers as addresses");
  const int engine = plan.node(api::cudnn_attr_plan_engine_config).engine;
  use(handle, pack.one<void*>(api::cudnn_attr_pack_workspace), std::size_t(kEngineWorkspace[engine]));
  record().engines.push_back(engine);
  Bindings bound{handle, {}};
  for (std::size_t i = 0; i < ids.size(); ++i) bound.addresses[ids[i]] = pointers[i];
  std::vector<const Node*> ops;
  for (const void* op :
       plan.node(api::cudnn_attr_plan_engine_config).graph->list<const void*>(api::cudnn_attr_graph_operations))
    ops.push_back(static_cast<const Node*>(op));
  run_convolution(ops, bound);
}

// Heuristics know one configuration for each engine.
inline void get_attribute(Node& n, int name, std::int64_t room, std::int64_t* count, void* elements) {
  const bool notes = name == api::cudnn_attr_engine_notes, heuristics = name == api::cudnn_attr_heuristic_results;
  *count = notes ? n.engine == 0 : heuristics ? std::int64_t(std::size(kEngineWorkspace)) : 1;
  if (room == 0 || *count == 0) return;
  if (heuristics) {
    for (int i = 0; i < std::min(room, *count); ++i) {
      Node& config = *static_cast<Node**>(elements)[i];
      config.graph = &n.node(api::cudnn_attr_heuristic_graph);
      config.engine = i;
      config.final = true;
    }
  } else if (name == api::cudnn_attr_engine_config_engine) {
    Node& engine = **static_cast<Node**>(elements);
    engine.engine = n.engine;
    engine.final = true;
  } else if (notes) {
    *static_cast<int*>(elements) = api::cudnn_note_nondeterministic;
  } else {
    require(name == api::cudnn_attr_plan_workspace_bytes, "an attribute that is not known");
    *static_cast<std::int64_t*>(elements) = kEngineWorkspace[n.node(api::cudnn_attr_plan_engine_config).engine];
  }
}

inline void add_graph_functions(autograd::internal::cudnn::Library& t) {
  t.create_descriptor = [](int type, api::cudnn_descriptor* to) {
    return answer([&] { *to = new Node{type, false, {}, nullptr}; });
  };
  t.destroy_descriptor = [](api::cudnn_descriptor d) {
    delete static_cast<Node*>(d);
    return api::cudnn_success;
  };
  t.set_attribute = [](api::cudnn_descriptor d, int name, int type, std::int64_t count, const void* elements) {
    return answer([&] {
      Node& n = *static_cast<Node*>(d);
      require(!n.final, "an attribute after finalising");
      const auto* first = static_cast<const std::byte*>(elements);
      n.attributes[name] = {first, first + std::size_t(count) * bytes_of(type)};
    });
  };
  t.get_attribute = [](api::cudnn_descriptor d, int name, int, std::int64_t room, std::int64_t* count, void* elements) {
    return answer([&] { get_attribute(*static_cast<Node*>(d), name, room, count, elements); });
  };
  t.finalize = [](api::cudnn_descriptor d) {
    return answer([&] {
      Node& n = *static_cast<Node*>(d);
      if (n.type == api::cudnn_tensor)
        require(described(n).shape.size() == described(n).strides.size(), "as many strides as lengths");
      // The library accepts these and has engines whose filter gradients are wrong then.
      if (n.type == api::cudnn_convolution)
        require(n.integers(api::cudnn_attr_convolution_pre_paddings) ==
                    n.integers(api::cudnn_attr_convolution_post_paddings),
                "paddings that differ at the ends of an axis");
      n.final = true;
    });
  };
  t.execute = [](api::cudnn_handle handle, api::cudnn_descriptor plan, api::cudnn_descriptor pack) {
    return work("cudnnBackendExecute", handle,
                [&] { execute(handle, *static_cast<const Node*>(plan), *static_cast<const Node*>(pack)); });
  };
}

// ---- batch normalization ------------------------------------------------------------------------
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

inline void check_scales(int type, const void* one, const void* zero) {
  const auto value = [&](const void* p) {
    return type == api::cudnn_double ? *static_cast<const double*>(p) : *static_cast<const float*>(p);
  };
  require(value(one) == 1 && value(zero) == 0, "other factors than 1 and 0");
}

// (N, C, L, 1) and (1, C, 1, 1).
inline Dims check_batch_norm(int mode, const Described& x, const Described& statistics) {
  require(x.shape.size() == 4 && x.shape[3] == 1, "images must have 4 axes");
  require(statistics.shape == Shape{1, x.shape[1], 1, 1}, "statistics must have one number for each channel");
  require(statistics.type == (x.type == api::cudnn_double ? api::cudnn_double : api::cudnn_float),
          "statistics of another type");
  require(mode == (x.shape[2] == 1 ? api::cudnn_batch_norm_per_activation : api::cudnn_batch_norm_spatial),
          "another mode");
  return {0, 2, 3};
}

inline void add_batch_norm_functions(autograd::internal::cudnn::Library& t) {
  t.create_tensor = create<cudnnTensorStruct>;
  t.destroy_tensor = destroy<cudnnTensorStruct>;
  t.set_tensor = [](cudnnTensorStruct* d, int type, int rank, const int* shape, const int* strides) {
    return answer([&] {
      require(rank >= 3 && rank <= 8, "a rank that there is not");
      d->type = type;
      d->shape = d->strides = {};
      for (int i = 0; i < rank; ++i) {
        d->shape.push_back(shape[i]);
        d->strides.push_back(strides[i]);
      }
    });
  };
  t.batch_norm_training = [](cudnnContext* h, int mode, const void* one, const void* zero, cudnnTensorStruct* xd,
                             const void* x, cudnnTensorStruct* yd, void* y, cudnnTensorStruct* s, const void* scale,
                             const void* bias, double, void* rm, void* rv, double eps, void* mean, void* inv_std) {
    return work("cudnnBatchNormalizationForwardTraining", h, [&] {
      check_scales(xd->type, one, zero);
      require(rm == nullptr && rv == nullptr, "running statistics");
      const Dims axes = check_batch_norm(mode, *xd, *s);
      const autograd::Arrays made = autograd::portable_nn_extension().batch_normalization(
          get(h, *xd, x), get(h, *s, scale), get(h, *s, bias), eps, axes);
      put(h, *yd, y, made[0]);
      put(h, *s, mean, made[1]);
      put(h, *s, inv_std, made[3]);
    });
  };
  t.batch_norm_inference = [](cudnnContext* h, int mode, const void* one, const void* zero, cudnnTensorStruct* xd,
                              const void* x, cudnnTensorStruct* yd, void* y, cudnnTensorStruct* s, const void* scale,
                              const void* bias, const void* mean, const void* variance, double eps) {
    return work("cudnnBatchNormalizationForwardInference", h, [&] {
      check_scales(xd->type, one, zero);
      check_batch_norm(mode, *xd, *s);
      put(h, *yd, y,
          autograd::portable_nn_extension().fixed_batch_normalization(
              get(h, *xd, x), get(h, *s, scale), get(h, *s, bias), get(h, *s, mean), get(h, *s, variance), eps));
    });
  };
  t.batch_norm_backward = [](cudnnContext* h, int mode, const void* one, const void* zero, const void* one_p,
                             const void* zero_p, cudnnTensorStruct* xd, const void* x, cudnnTensorStruct* dyd,
                             const void* dy, cudnnTensorStruct* dxd, void* dx, cudnnTensorStruct* s, const void* scale,
                             void* dscale, void* dbias, double eps, const void* mean, const void* inv_std) {
    return work("cudnnBatchNormalizationBackward", h, [&] {
      check_scales(xd->type, one, zero);
      check_scales(xd->type, one_p, zero_p);
      require(eps >= 0, "a negative eps");
      const Dims axes = check_batch_norm(mode, *xd, *s);
      const autograd::Arrays made = autograd::portable_nn_extension().batch_normalization_backward(
          get(h, *xd, x), get(h, *dyd, dy), get(h, *s, scale), get(h, *s, mean), get(h, *s, inv_std), axes);
      put(h, *dxd, dx, made[0]);
      put(h, *s, dscale, made[1]);
      put(h, *s, dbias, made[2]);
    });
  };
}

// ---- recurrent networks -------------------------------------------------------------------------
//
// What is captured in a graph cannot compute on the host: there a pass copies the head of the weight space to its first
// output.
constexpr std::size_t kRnnWorkspace = 64, kReserve = 8;

inline void show_weights(cudnnContext* h, void* to, std::size_t to_bytes, const void* weights, std::size_t bytes) {
  CATENA_CU(copy_on_device_async, nd::cuda::address_of(to), nd::cuda::address_of(weights), std::min(to_bytes, bytes),
            h->stream);
}

// Where the weights lie: after a gap, each bias before its matrix, the last state first.
struct Place {
  std::size_t bias, matrix;
};
inline std::int64_t directions(const cudnnRNNStruct& r) { return r.spec.bidirectional ? 2 : 1; }
inline std::int64_t columns(const cudnnRNNStruct& r, std::int64_t state, std::int64_t j) {
  if (j >= autograd::rnn_matrices(r.spec.mode) / 2) return r.units;
  return state < directions(r) ? r.inputs : r.units * directions(r);
}
inline std::size_t lay_out(const cudnnRNNStruct& r, std::map<std::pair<std::int64_t, std::int64_t>, Place>& places) {
  const std::size_t item = catena::itemsize(dtype_of(r.type));
  std::size_t at = 4;
  for (std::int64_t state = r.spec.layers * directions(r) - 1; state >= 0; --state)
    for (std::int64_t j = 0; j < autograd::rnn_matrices(r.spec.mode); ++j) {
      places[{state, j}] = {at * item, (at + std::size_t(r.units)) * item};
      at += std::size_t(r.units * (1 + columns(r, state, j)));
    }
  return at * item;
}

// f(byte, tensor, its array among the operands, index, whether it is a matrix) of every bias and matrix; the arrays are
// new ones.
template <class F> void each_weight(const cudnnRNNStruct& r, autograd::RnnOperands& o, F&& f) {
  std::map<std::pair<std::int64_t, std::int64_t>, Place> places;
  lay_out(r, places);
  for (std::int64_t state = 0; state < r.spec.layers * directions(r); ++state)
    for (std::int64_t j = 0; j < autograd::rnn_matrices(r.spec.mode); ++j) {
      const Place p = places[{state, j}];
      o.bs.emplace_back();
      o.ws.emplace_back();
      f(p.bias, packed(r.type, {r.units}), o.bs.back(), o.bs.size() - 1, false);
      f(p.matrix, packed(r.type, {r.units, columns(r, state, j)}), o.ws.back(), o.ws.size() - 1, true);
    }
}

inline autograd::RnnOperands operands(cudnnContext* h, const cudnnRNNStruct& r, const cudnnRNNDataStruct& xd,
                                      const void* x, const cudnnTensorStruct& states, const void* hx, const void* cx,
                                      std::size_t bytes, const void* weights) {
  require(xd.type == r.type && states.type == r.type, "tensors of another type than the network");
  require(xd.width == r.inputs, "x of another width");
  require(states.shape == Shape{r.spec.layers * directions(r), xd.sequences, r.units}, "states of another shape");
  require((cx != nullptr) == (r.spec.mode == autograd::RnnMode::lstm), "a cell state for an lstm alone");
  std::map<std::pair<std::int64_t, std::int64_t>, Place> places;
  require(bytes == lay_out(r, places), "a weight space of another size");
  autograd::RnnOperands o;
  o.x = get(h, packed(r.type, {xd.rows, xd.width}), x);
  o.batches = xd.batches;
  o.hx = get(h, states, hx);
  if (cx != nullptr) o.cx = get(h, states, cx);
  each_weight(r, o, [&](std::size_t at, const Described& d, Array& to, std::size_t, bool) {
    to = get(h, d, static_cast<const std::byte*>(weights) + at);
  });
  return o;
}

// What a training call leaves behind. The library has it in the reserve; here the reserve has the number by which it is
// found.
struct Kept {
  autograd::RnnOperands operands;
  autograd::RnnResult result;
  autograd::RnnGradients gradients;
};
inline std::vector<Kept>& kept() {
  static std::vector<Kept> all;
  return all;
}
constexpr std::uint64_t kAfterData = std::uint64_t(1) << 63;  // the reserve once the pass over data has written there

inline void mark(cudnnContext* h, void* reserve, std::size_t bytes, std::uint64_t value) {
  require(bytes == kReserve, "a reserve of another size");
  send(h, reserve, &value, sizeof value);
}
inline Kept& kept_for(cudnnContext* h, const void* reserve, std::size_t bytes, bool after_data) {
  require(bytes == kReserve, "a reserve of another size");
  std::uint64_t value = 0;
  std::memcpy(&value, fetch(h, reserve, bytes).data(), sizeof value);
  require(((value & kAfterData) != 0) == after_data && (value & ~kAfterData) < kept().size(),
          "a reserve that is not as the call before left it");
  return kept()[value & ~kAfterData];
}

inline bool same(const Array& a, const Array& b) {
  return a.shape() == b.shape() && autograd::to_vector<double>(a) == autograd::to_vector<double>(b);
}

inline void set_network(cudnnRNNStruct& r, int cell, bool both, std::int32_t layers) {
  using autograd::RnnMode;
  const std::map<int, RnnMode> modes{{api::cudnn_rnn_relu, RnnMode::relu},
                                     {api::cudnn_rnn_tanh, RnnMode::tanh},
                                     {api::cudnn_lstm, RnnMode::lstm},
                                     {api::cudnn_gru, RnnMode::gru}};
  require(modes.count(cell) == 1, "another cell");
  r.spec.mode = modes.at(cell);
  r.spec.bidirectional = both;
  r.spec.layers = layers;
}

inline void add_rnn_descriptions(autograd::internal::cudnn::Library& t) {
  t.create_rnn = create<cudnnRNNStruct>;
  t.destroy_rnn = destroy<cudnnRNNStruct>;
  t.create_rnn_data = create<cudnnRNNDataStruct>;
  t.destroy_rnn_data = destroy<cudnnRNNDataStruct>;
  t.set_rnn = [](cudnnRNNStruct* r, int algorithm, int cell, int bias, int direction, int input, int type, int compute,
                 int math, std::int32_t inputs, std::int32_t units, std::int32_t projected, std::int32_t layers,
                 cudnnDropoutStruct* dropout, std::uint32_t flags) {
    return answer([&] {
      require(algorithm == api::cudnn_rnn_standard && bias == api::cudnn_rnn_double_bias, "another network");
      require(input == api::cudnn_linear_input, "another network");
      require(compute == type && projected == units && dropout == nullptr && flags == 0, "another network");
      set_network(*r, cell, direction == api::cudnn_bidirectional, layers);
      r->type = type;
      r->inputs = inputs;
      r->units = units;
      record().math = math;
    });
  };
  t.set_rnn_data = [](cudnnRNNDataStruct* d, int type, int layout, int times, int batch, int width, const int* lengths,
                      void*) {
    return answer([&] {
      require(layout == api::cudnn_rnn_packed && times > 0 && batch > 0 && width > 0, "another layout");
      require(std::is_sorted(lengths, lengths + batch, std::greater<>()) && lengths[batch - 1] > 0,
              "sequences that are not sorted");
      require(lengths[0] == times, "another number of times");
      *d = {type, std::vector<std::int64_t>(std::size_t(times), 0), 0, width, batch};
      for (int i = 0; i < batch; ++i)
        for (int at = 0; at < lengths[i]; ++at) ++d->batches[std::size_t(at)];
      for (const std::int64_t n : d->batches) d->rows += n;
    });
  };
  t.get_rnn_space = [](cudnnContext*, cudnnRNNStruct*, int mode, cudnnRNNDataStruct*, std::size_t* workspace,
                       std::size_t* reserve) {
    *workspace = kRnnWorkspace;
    *reserve = mode == api::cudnn_training ? kReserve : 0;
    return api::cudnn_success;
  };
  t.get_rnn_weight_space = [](cudnnContext*, cudnnRNNStruct* r, std::size_t* bytes) {
    return answer([&] {
      std::map<std::pair<std::int64_t, std::int64_t>, Place> places;
      *bytes = lay_out(*r, places);
    });
  };
  t.get_rnn_weights = [](cudnnContext*, cudnnRNNStruct* r, std::int32_t state, std::size_t bytes, const void* weights,
                         std::int32_t matrix, cudnnTensorStruct*, void** w, cudnnTensorStruct*, void** b) {
    return answer([&] {
      std::map<std::pair<std::int64_t, std::int64_t>, Place> places;
      require(bytes == lay_out(*r, places) && places.count({state, matrix}) == 1, "weights that there are not");
      ++record().places;
      auto* first = static_cast<std::byte*>(const_cast<void*>(weights));
      *w = first + places[{state, matrix}].matrix;
      *b = first + places[{state, matrix}].bias;
    });
  };
}

inline void add_rnn_functions(autograd::internal::cudnn::Library& t) {
  t.rnn_forward = [](cudnnContext* h, cudnnRNNStruct* r, int mode, const std::int32_t* lengths, cudnnRNNDataStruct* xd,
                     const void* x, cudnnRNNDataStruct* yd, void* y, cudnnTensorStruct* hd, const void* hx, void* hy,
                     cudnnTensorStruct* cd, const void* cx, void* cy, std::size_t weight_bytes, const void* weights,
                     std::size_t work_bytes, void* workspace, std::size_t reserve_bytes, void* reserve) {
    return work("cudnnRNNForward", h, [&] {
      require(lengths == nullptr, "lengths on the device");
      require(yd->width == r->units * directions(*r) && yd->rows == xd->rows, "y of another shape");
      if (nd::cuda::is_recording())
        return show_weights(h, y, std::size_t(yd->rows * yd->width) * sizeof(float), weights, weight_bytes);
      use(h, workspace, work_bytes);
      const autograd::RnnOperands o = operands(h, *r, *xd, x, *hd, hx, cx, weight_bytes, weights);
      const autograd::RnnResult made = autograd::portable_nn_extension().rnn(o, r->spec);
      put(h, packed(r->type, {yd->rows, yd->width}), y, made.y);
      put(h, *hd, hy, made.hy);
      if (made.cy) put(h, *cd, cy, made.cy);
      if (mode == api::cudnn_inference)
        return require(reserve == nullptr && reserve_bytes == 0, "a reserve for inference");
      kept().push_back({o, made, {}});
      mark(h, reserve, reserve_bytes, kept().size() - 1);
    });
  };
  t.rnn_backward_data = [](cudnnContext* h, cudnnRNNStruct* r, const std::int32_t*, cudnnRNNDataStruct* yd,
                           const void* y, const void* dy, cudnnRNNDataStruct* xd, void* dx, cudnnTensorStruct* hd,
                           const void* hx, const void* dhy, void* dhx, cudnnTensorStruct* cd, const void* cx,
                           const void* dcy, void* dcx, std::size_t weight_bytes, const void* weights,
                           std::size_t work_bytes, void* workspace, std::size_t reserve_bytes, void* reserve) {
    return work("cudnnRNNBackwardData_v8", h, [&] {
      if (nd::cuda::is_recording())
        return show_weights(h, dx, std::size_t(xd->rows * xd->width) * sizeof(float), weights, weight_bytes);
      Kept& k = kept_for(h, reserve, reserve_bytes, false);
      use(h, workspace, work_bytes);
      const Described out = packed(r->type, {yd->rows, yd->width});
      require(same(get(h, out, y), autograd::astype(autograd::astype(k.result.y, dtype_of(r->type)), Dtype::float64)),
              "another y");
      require(same(get(h, *hd, hx), k.operands.hx) && (cx == nullptr || same(get(h, *cd, cx), k.operands.cx)),
              "another state");
      autograd::RnnOperands o;
      each_weight(*r, o, [&](std::size_t at, const Described& d, Array&, std::size_t i, bool matrix) {
        const Array given = get(h, d, static_cast<const std::byte*>(weights) + at);
        require(at < weight_bytes && same(given, matrix ? k.operands.ws[i] : k.operands.bs[i]), "other weights");
      });
      k.gradients = autograd::portable_nn_extension().rnn_backward(
          k.operands, r->spec, k.result,
          {get(h, out, dy), get(h, *hd, dhy), dcy != nullptr ? get(h, *cd, dcy) : Array()});
      put(h, packed(r->type, {xd->rows, xd->width}), dx, k.gradients.gx);
      put(h, *hd, dhx, k.gradients.ghx);
      if (k.gradients.gcx) put(h, *cd, dcx, k.gradients.gcx);
      mark(h, reserve, reserve_bytes, std::uint64_t(&k - kept().data()) | kAfterData);
    });
  };
  t.rnn_backward_weights = [](cudnnContext* h, cudnnRNNStruct* r, int add, const std::int32_t*, cudnnRNNDataStruct* xd,
                              const void* x, cudnnTensorStruct* hd, const void* hx, cudnnRNNDataStruct* yd,
                              const void* y, std::size_t weight_bytes, void* dweights, std::size_t work_bytes,
                              void* workspace, std::size_t reserve_bytes, void* reserve) {
    return work("cudnnRNNBackwardWeights_v8", h, [&] {
      require(add == api::cudnn_add_gradients, "gradients can only be added");
      if (nd::cuda::is_recording()) return;
      const Kept& k = kept_for(h, reserve, reserve_bytes, true);
      use(h, workspace, work_bytes);
      require(
          same(get(h, packed(r->type, {xd->rows, xd->width}), x), k.operands.x) && same(get(h, *hd, hx), k.operands.hx),
          "another x");
      require(y != nullptr && yd->rows == xd->rows, "another y");
      autograd::RnnOperands o;
      each_weight(*r, o, [&](std::size_t at, const Described& d, Array&, std::size_t i, bool matrix) {
        require(at < weight_bytes, "a weight space of another size");
        void* const to = static_cast<std::byte*>(dweights) + at;
        put(h, d, to, get(h, d, to) + (matrix ? k.gradients.gws[i] : k.gradients.gbs[i]));
      });
    });
  };
}

// ---- the table ----------------------------------------------------------------------------------
inline autograd::internal::cudnn::Library library() {
  autograd::internal::cudnn::Library t;
  t.path = "fake_cudnn.h";
  t.version = 90000;
  t.get_version = []() -> std::size_t { return 90000; };
  t.get_error_string = [](Status status) {
    return status == kBadParameter ? "CUDNN_STATUS_BAD_PARAM" : "CUDNN_STATUS_OTHER";
  };
  t.get_last_error_string = [](char* to, std::size_t room) {
    last_words.copy(to, room - 1);
    to[std::min(last_words.size(), room - 1)] = '\0';
    last_words.clear();
  };
  t.create = [](api::cudnn_handle* to) {
    *to = new cudnnContext;
    return api::cudnn_success;
  };
  t.set_stream = [](api::cudnn_handle handle, CUstream_st* stream) {
    handle->stream = stream;
    return api::cudnn_success;
  };
  add_graph_functions(t);
  add_batch_norm_functions(t);
  add_rnn_descriptions(t);
  add_rnn_functions(t);
  return t;
}
// Whether the fake is in the place of cuDNN, which it takes at the first call where the library is not there.
inline bool stands_in() {
  namespace cudnn = autograd::internal::cudnn;
  static const bool fake = [] {
    if (cudnn::is_available()) return false;
    static const auto& table = *new cudnn::Library(library());
    cudnn::replace_library(table);
    return true;
  }();
  return fake;
}

}  // namespace fake_cudnn
