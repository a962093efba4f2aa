#include <catena/autograd/ndarray_backend/cudnn/rnn.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include <catena/autograd/backend/backend.h>
#include <catena/autograd/ndarray_backend/cudnn/arrays.h>
#include <catena/autograd/ndarray_backend/cudnn/weights.h>
#include <catena/ndarray/cuda/runtime/graph.h>
#include <catena/ndarray/cuda/vendor/blas.h>
#include <catena/ndarray/engine/execute.h>

namespace autograd::internal::cudnn {
namespace {

int cell_of(RnnMode mode) {
  switch (mode) {
    case RnnMode::relu: return api::cudnn_rnn_relu;
    case RnnMode::tanh: return api::cudnn_rnn_tanh;
    case RnnMode::lstm: return api::cudnn_lstm;
    case RnnMode::gru: return api::cudnn_gru;
  }
  throw NotSupported{};
}

// The lengths of the sequences, computed from the batches of all times.
std::vector<int> lengths_of(const std::vector<std::int64_t>& batches) {
  std::vector<int> lengths(static_cast<std::size_t>(batches[0]), 0);
  for (const std::int64_t n : batches)
    for (std::int64_t i = 0; i < n; ++i) ++lengths[static_cast<std::size_t>(i)];
  return lengths;
}

int math_of(Dtype dtype) {
  return dtype == Dtype::float32 && !nd::cuda::tf32_allowed() ? api::cudnn_fma_math : api::cudnn_default_math;
}

Owned<cudnnRNNStruct> network_of(const RnnOperands& o, const RnnSpec& spec) {
  const int type = cudnn_type(o.x.dtype()), math = math_of(o.x.dtype());
  const auto units = static_cast<std::int32_t>(o.hx.shape(2));
  Owned<cudnnRNNStruct> network = CATENA_CUDNN_OWN(rnn);
  // No dropout descriptor: the caller applies dropout between layers, in the same way for all implementations.
  CATENA_CUDNN(set_rnn, network.get(), api::cudnn_rnn_standard, cell_of(spec.mode), api::cudnn_rnn_double_bias,
               spec.bidirectional ? api::cudnn_bidirectional : api::cudnn_unidirectional, api::cudnn_linear_input, type,
               type, math, static_cast<std::int32_t>(o.x.shape(1)), units, units,
               static_cast<std::int32_t>(spec.layers), nullptr, 0);
  return network;
}

Owned<cudnnRNNDataStruct> sequences_of(const RnnOperands& o, const std::vector<int>& lengths, std::int64_t width) {
  Owned<cudnnRNNDataStruct> data = CATENA_CUDNN_OWN(rnn_data);
  CATENA_CUDNN(set_rnn_data, data.get(), cudnn_type(o.x.dtype()), api::cudnn_rnn_packed,
               static_cast<int>(o.batches.size()), static_cast<int>(lengths.size()), static_cast<int>(width),
               lengths.data(), nullptr);
  return data;
}

// A network with the descriptors of its operands, on one handle.
struct Network {
  Network(const RnnOperands& o, const RnnSpec& spec)
      : handle(o.x),
        rnn(network_of(o, spec)),
        lengths(lengths_of(o.batches)),
        x(sequences_of(o, lengths, o.x.shape(1))),
        y(sequences_of(o, lengths, width(o, spec))),
        states(tensor_descriptor(cudnn_type(o.x.dtype()), o.hx.shape(),
                                 packed_strides(o.hx.shape(), Layout::contiguous))) {
    CATENA_CUDNN(get_rnn_space, handle.get(), rnn.get(), spec.training ? api::cudnn_training : api::cudnn_inference,
                 x.get(), &workspace_bytes, &reserve_bytes);
    CATENA_CUDNN(get_rnn_weight_space, handle.get(), rnn.get(), &weight_bytes);
  }
  static std::int64_t width(const RnnOperands& o, const RnnSpec& spec) {
    return o.hx.shape(2) * (spec.bidirectional ? 2 : 1);
  }

  Handle handle;
  Owned<cudnnRNNStruct> rnn;
  std::vector<int> lengths;
  Owned<cudnnRNNDataStruct> x, y;
  TensorDescriptor states;
  std::size_t workspace_bytes = 0, reserve_bytes = 0, weight_bytes = 0;
};

// cuDNN's descriptors store sizes as int.
void check_sizes(const RnnOperands& o) {
  constexpr std::int64_t kMost = std::numeric_limits<int>::max();
  if (o.x.size() > kMost || o.hx.size() > kMost || o.x.shape(0) * o.hx.shape(2) > kMost / 2) throw NotSupported{};
}

Array bytes_near(const Array& near, std::size_t bytes) {
  return near.backend().empty({static_cast<std::int64_t>(bytes)}, Dtype::uint8, near.device());
}
void* data_of(const Array& a) { return a && a.size() > 0 ? a->data : nullptr; }

// Calls f(matrix as a view of the weight space, bias, index) for all matrices. With separate_inputs, cuDNN's network
// reads the inputs of both directions side by side. The matrix of one direction is then a block of columns; the other
// columns are 0.
template <class F>
void each_weight(const Network& net, const Array& weights, const RnnOperands& o, const RnnSpec& spec, F&& f) {
  const std::int64_t matrices = rnn_matrices(spec.mode),
                     item = static_cast<std::int64_t>(catena::itemsize(weights.dtype()));
  const TensorDescriptor w_shape = CATENA_CUDNN_OWN(tensor), b_shape = CATENA_CUDNN_OWN(tensor);
  const auto at = [&](const void* address, const Shape& shape) {
    const std::int64_t offset = static_cast<const std::byte*>(address) - static_cast<const std::byte*>(weights->data);
    if (offset < 0 || offset + catena::size_of(shape) * item > static_cast<std::int64_t>(net.weight_bytes))
      catena::fail<catena::RuntimeError>("rnn", "cuDNN keeps ", shape, " weights at byte ", offset, " of ",
                                         net.weight_bytes);
    Strides strides = packed_strides(shape, Layout::contiguous);
    for (std::int64_t& s : strides) s *= item;
    return weights.backend().view(weights, shape, strides, offset);
  };
  for (std::size_t i = 0; i < o.ws.size(); ++i) {
    const std::int64_t state = std::int64_t(i) / matrices, matrix = std::int64_t(i) % matrices;
    void *w = nullptr, *b = nullptr;
    CATENA_CUDNN(get_rnn_weights, net.handle.get(), net.rnn.get(), static_cast<std::int32_t>(state), net.weight_bytes,
                 weights->data, static_cast<std::int32_t>(matrix), w_shape.get(), &w, b_shape.get(), &b);
    const Shape& shape = o.ws[i].shape();
    const bool block = spec.separate_inputs && matrix < matrices / 2;
    f(block ? slice(at(w, {shape[0], 2 * shape[1]}), 1, state * shape[1], (state + 1) * shape[1]) : at(w, shape),
      at(b, o.bs[i].shape()), i);
  }
}

Array new_weights(const Network& net, const RnnOperands& o) {
  const std::int64_t item = static_cast<std::int64_t>(catena::itemsize(o.x.dtype()));
  const Array weights =
      o.x.backend().empty({(static_cast<std::int64_t>(net.weight_bytes) + item - 1) / item}, o.x.dtype(), o.x.device());
  fill(weights, 0);
  return weights;
}

struct Copy {
  Array to, from;
};

Array flat(const Array& a) { return a.backend().view(a, {a.size()}, {std::int64_t(catena::itemsize(a.dtype()))}, 0); }

// Copies to consecutive places in memory are joined to one launch.
void run(std::vector<Copy> copies) {
  const auto others = std::stable_partition(copies.begin(), copies.end(), [](const Copy& c) {
    return c.to.is_c_contiguous() && c.from.is_c_contiguous() && c.to.dtype() == c.from.dtype();
  });
  for (auto c = others; c != copies.end(); ++c) assign(c->to, c->from);
  copies.erase(others, copies.end());
  std::sort(copies.begin(), copies.end(), [](const Copy& a, const Copy& b) { return a.to->data < b.to->data; });
  for (auto first = copies.begin(); first != copies.end();) {
    const Array& begin = first->to;
    const auto item = static_cast<std::int64_t>(catena::itemsize(begin.dtype()));
    std::vector<Array> parts;
    std::vector<const catena::ArrayHeader*> pieces;
    std::int64_t size = 0;
    for (; first != copies.end() && first->to->data == begin->data + size * item; ++first) {
      parts.push_back(flat(first->from));
      pieces.push_back(parts.back().get());
      size += parts.back().size();
    }
    const Array whole = begin.backend().view(begin, {size}, {item}, 0);
    nd::internal::execute(catena::call::Join{pieces, 0, whole.get(), "rnn"});
  }
}

Array weights_of(const Network& net, const RnnOperands& o, const RnnSpec& spec) {
  const Dtype dtype = o.x.dtype();
  const std::int64_t layout[] = {cell_of(spec.mode), spec.layers,   spec.bidirectional,  spec.separate_inputs,
                                 o.x.shape(1),       o.hx.shape(2), std::int64_t(dtype), math_of(dtype)};
  return packed_weights(layout, o.ws, o.bs, [&] {
    const Array weights = new_weights(net, o);
    std::vector<Copy> copies;
    each_weight(net, weights, o, spec, [&](const Array& w, const Array& b, std::size_t i) {
      copies.push_back({w, o.ws[i]});
      copies.push_back({b, o.bs[i]});
    });
    run(std::move(copies));
    return weights;
  });
}

}  // namespace

// True for a result of this implementation, which saves the reserve space and, in a graph that is being captured, the
// weight space, so that the graph makes it once. The portable implementation saves three arrays or more.
bool is_own(const RnnResult& result) { return result.saved.size() == 1 || result.saved.size() == 2; }

RnnResult rnn(const RnnOperands& o, const RnnSpec& spec) {
  if (!library().has_rnn) throw NotSupported{};
  check_sizes(o);
  const Network net(o, spec);
  const Array weights = weights_of(net, o, spec), x = packed(o.x), hx = packed(o.hx),
              cx = o.cx ? packed(o.cx) : Array();
  RnnResult to;
  to.y = x.backend().empty({x.shape(0), Network::width(o, spec)}, x.dtype(), x.device());
  to.hy = empty_like(hx);
  if (cx) to.cy = empty_like(cx);
  const Array workspace = bytes_near(x, net.workspace_bytes), reserve = bytes_near(x, net.reserve_bytes);
  // Since version 8.9.1, cuDNN does not read lengths in device memory.
  CATENA_CUDNN_ENQUEUE(net.handle, rnn_forward, net.rnn.get(),
                       spec.training ? api::cudnn_training : api::cudnn_inference, nullptr, net.x.get(), x->data,
                       net.y.get(), to.y->data, net.states.get(), hx->data, to.hy->data, net.states.get(), data_of(cx),
                       data_of(to.cy), net.weight_bytes, weights->data, net.workspace_bytes, data_of(workspace),
                       net.reserve_bytes, data_of(reserve));
  if (spec.training) to.saved.push_back(reserve);
  if (spec.training && nd::cuda::is_recording()) to.saved.push_back(weights);
  return to;
}

RnnGradients rnn_backward(const RnnOperands& o, const RnnSpec& spec, const RnnResult& result,
                          const RnnOutputGradients& g) {
  const Network net(o, spec);
  const Array weights = result.saved.size() == 2 ? packed(result.saved[1]) : weights_of(net, o, spec),
              gradients = new_weights(net, o);
  const Array x = packed(o.x), hx = packed(o.hx), cx = o.cx ? packed(o.cx) : Array(), y = packed(result.y);
  const Array gy = packed(g.gy), ghy = packed(g.ghy), gcy = g.gcy ? packed(g.gcy) : Array();
  const Array reserve = copy(result.saved[0]);  // the first call writes data there for the second one
  const Array workspace = bytes_near(x, net.workspace_bytes);
  RnnGradients to;
  to.gx = empty_like(x);
  to.ghx = empty_like(hx);
  if (cx) to.gcx = empty_like(cx);
  CATENA_CUDNN_ENQUEUE(net.handle, rnn_backward_data, net.rnn.get(), nullptr, net.y.get(), y->data, gy->data,
                       net.x.get(), to.gx->data, net.states.get(), hx->data, ghy->data, to.ghx->data, net.states.get(),
                       data_of(cx), data_of(gcy), data_of(to.gcx), net.weight_bytes, weights->data, net.workspace_bytes,
                       data_of(workspace), net.reserve_bytes, data_of(reserve));
  CATENA_CUDNN_ENQUEUE(net.handle, rnn_backward_weights, net.rnn.get(), api::cudnn_add_gradients, nullptr, net.x.get(),
                       x->data, net.states.get(), hx->data, net.y.get(), y->data, net.weight_bytes, gradients->data,
                       net.workspace_bytes, data_of(workspace), net.reserve_bytes, data_of(reserve));
  // The gradients are views of one array.
  each_weight(net, gradients, o, spec, [&](const Array& w, const Array& b, std::size_t) {
    to.gws.push_back(contiguous(w));
    to.gbs.push_back(b);
  });
  return to;
}

}  // namespace autograd::internal::cudnn
