// Of the cuDNN for tests: recurrent networks.
//
// Work under capture cannot compute on the host; a pass then copies the head of the weight space to its first output.
#pragma once

#include <catena/tests/integration/fake_cudnn_handle.h>

namespace fake_cudnn {

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

// The data of a training call for its backward passes. The library stores them in the reserve; here the reserve has
// their index in kept().
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

}  // namespace fake_cudnn
