#include <catena/nn/functions/array/resampling.h>

#include <algorithm>
#include <utility>

#include <catena/autograd/array_backend.h>
#include <catena/autograd/function_node.h>
#include <catena/autograd/function_options.h>
#include <catena/autograd/functions/array.h>

namespace nn {

using autograd::Array;
using autograd::Arrays;
using autograd::Dims;
using autograd::Dtype;
using autograd::Shape;
using autograd::Targets;
using autograd::Variables;

namespace {

using internal::ResamplingOrder;
using internal::Taps;

// Returns the map from the outputs to the inputs of these taps, whose axis has the length `length`.
Taps transposed(const Taps& taps, std::int64_t length) {
  std::vector<std::size_t> next(std::size_t(length) + 1);
  for (const std::int64_t at : taps.at) ++next[std::size_t(at) + 1];
  for (std::size_t j = 0; j < std::size_t(length); ++j) next[j + 1] += next[j];
  // The terms in the order of their inputs.
  Taps sorted{std::vector<std::int64_t>(taps.at.size()), std::vector<double>(taps.at.size()), {}};
  for (std::size_t i = 0; i < taps.outputs(); ++i)
    for (std::size_t k = taps.begin_of(i); k < taps.ends[i]; ++k) {
      const std::size_t to = next[std::size_t(taps.at[k])]++;
      sorted.at[to] = std::int64_t(i);
      sorted.weight[to] = taps.weight[k];
    }
  Taps t;
  for (std::size_t j = 0; j < std::size_t(length); ++j) {
    const std::size_t first = j == 0 ? 0 : next[j - 1];
    for (std::size_t k = first; k < next[j]; ++k)
      if (k > first && sorted.at[k] == sorted.at[k - 1]) t.weight.back() += sorted.weight[k];
      else t.add(sorted.at[k], sorted.weight[k]);
    t.end_output();
  }
  return t;
}

// The taps as matrices (terms, outputs): all outputs have as many terms as the one with most.
struct Terms {
  std::size_t terms = 1, outputs = 0;
  std::vector<std::int64_t> at;
  std::vector<double> weight;
};
Terms terms_of(const Taps& taps) {
  Terms m{1, taps.outputs(), {}, {}};
  for (std::size_t i = 0; i < m.outputs; ++i) m.terms = std::max(m.terms, taps.ends[i] - taps.begin_of(i));
  m.at.resize(m.terms * m.outputs);  // an output that reads nothing reads the first input with the weight 0
  m.weight.resize(m.terms * m.outputs);
  for (std::size_t i = 0; i < m.outputs; ++i) {
    const std::size_t first = taps.begin_of(i), given = taps.ends[i] - first;
    for (std::size_t t = 0; t < m.terms; ++t) {
      const std::size_t to = t * m.outputs + i;
      if (t < given) {
        m.at[to] = taps.at[first + t];
        m.weight[to] = taps.weight[first + t];
      } else if (t > 0) {
        m.at[to] = m.at[to - m.outputs];
        m.weight[to] = m.weight[to - m.outputs] /= 2;
      }
    }
  }
  return m;
}

Array mapped(const Array& x, int axis, const Terms& m) {
  const auto on_device = [&](const void* data, const Shape& shape, Dtype dtype) {
    return x.backend().from_host(data, shape, dtype, x.device());
  };
  const bool selects = m.terms == 1 && std::all_of(m.weight.begin(), m.weight.end(), [](double w) { return w == 1; });
  const auto outputs = std::int64_t(m.outputs);
  Shape along = Shape::filled(x.ndim() - axis, 1);
  along[0] = outputs;
  Array y;
  for (std::size_t t = 0; t < m.terms; ++t) {
    const std::size_t row = t * m.outputs;
    const Array taken = autograd::take(x, on_device(m.at.data() + row, {outputs}, Dtype::int64), axis);
    if (selects) return taken;
    taken *= autograd::astype(on_device(m.weight.data() + row, along, Dtype::float64), x.dtype());
    if (t == 0) y = taken;
    else y += taken;
  }
  return y;
}

// The axes from `first` on in cyclic order.
Dims cyclic(int rank, int first) {
  Dims axes;
  for (int a = 0; a < rank; ++a) axes.push_back((first + a) % rank);
  return axes;
}

class Resampling final : public autograd::FunctionNode, public autograd::internal::HasOptions {
 public:
  Resampling(int axis, Taps taps, ResamplingOrder order) : axis_(axis), taps_(std::move(taps)), order_(order) {}
  std::string label() const override { return "Resampling"; }
  void options(autograd::internal::FunctionOptions& o) const override {
    std::vector<std::int64_t> outputs;
    for (std::size_t i = 0; i < taps_.outputs(); ++i) outputs.resize(taps_.ends[i], std::int64_t(i));
    o.integer("axis", axis_);
    o.integers("outputs", outputs);
    o.integers("inputs", taps_.at);
    o.numbers("weights", taps_.weight);
  }

  Arrays forward(const Arrays& in) override {
    const Terms terms = terms_of(taps_);
    const Array& x = in[0];
    const bool is_last = axis_ > 0 && axis_ + 1 == x.ndim() && terms.terms > 1;
    if (!order_.cyclic_x && !order_.cyclic_y && !is_last) return {mapped(x, axis_, terms)};
    // Long rows are moved faster than short ones.
    const Array outermost = autograd::contiguous(autograd::transpose(x, cyclic(x.ndim(), axis_)));
    const Array y = autograd::transpose(mapped(outermost, 0, terms), cyclic(x.ndim(), x.ndim() - axis_));
    return {order_.cyclic_y ? y : autograd::contiguous(y)};
  }

  Variables backward(const Targets&, const Variables& gy) override {
    return autograd::apply_node<Resampling>({gy[0]}, axis_, transposed(taps_, input_shape(0)[axis_]),
                                            ResamplingOrder{order_.cyclic_y, order_.cyclic_x});
  }

 private:
  int axis_;
  Taps taps_;
  ResamplingOrder order_;
};

}  // namespace

void internal::check_lengths(const char* op, const Variable& x, const autograd::Dims& lengths) {
  for (int a = 0; a < lengths.size(); ++a)
    catena::check<catena::ValueError>(lengths[a] >= 1 && x.shape(2 + a) >= 1, op, "spatial lengths of x ", x.shape(),
                                      " become ", lengths, "; they must be positive");
}

autograd::Variable internal::resampled(const Variable& x, int axis, Taps taps, ResamplingOrder order) {
  return autograd::apply_node<Resampling>({x}, axis, std::move(taps), order)[0];
}

}  // namespace nn
