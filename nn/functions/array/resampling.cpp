#include <catena/nn/functions/array/resampling.h>

#include <algorithm>

#include <catena/autograd/function_node.h>
#include <catena/autograd/function_options.h>
#include <catena/autograd/functions/array.h>

namespace nn {

using autograd::Array;
using autograd::Arrays;
using autograd::Dtype;
using autograd::Shape;
using autograd::Targets;
using autograd::Variables;

namespace {

using internal::Taps;

// Returns the map from `outputs` to the inputs of these taps, whose axis has the length `length`.
Taps transposed(const Taps& taps, std::int64_t length) {
  Taps t{std::vector<std::vector<std::int64_t>>(std::size_t(length)),
         std::vector<std::vector<double>>(std::size_t(length))};
  for (std::size_t i = 0; i < taps.at.size(); ++i)
    for (std::size_t k = 0; k < taps.at[i].size(); ++k) {
      const auto from = std::size_t(taps.at[i][k]);
      if (!t.at[from].empty() && t.at[from].back() == std::int64_t(i)) {
        t.weight[from].back() += taps.weight[i][k];
        continue;
      }
      t.at[from].push_back(std::int64_t(i));
      t.weight[from].push_back(taps.weight[i][k]);
    }
  return t;
}

// Gives all outputs as many terms as the one with most.
void fill_up(Taps& taps) {
  std::size_t most = 1;
  for (const auto& at : taps.at) most = std::max(most, at.size());
  for (std::size_t i = 0; i < taps.at.size(); ++i) {
    if (taps.at[i].empty()) {  // an output that reads nothing
      taps.at[i].push_back(0);
      taps.weight[i].push_back(0);
    }
    while (taps.at[i].size() < most) {
      taps.at[i].push_back(taps.at[i].back());
      taps.weight[i].back() /= 2;
      taps.weight[i].push_back(taps.weight[i].back());
    }
  }
}

// Applies a map with equal numbers of terms.
Array mapped(const Array& x, int axis, const Taps& taps) {
  const std::size_t outputs = taps.at.size(), terms = taps.at[0].size();
  const auto on_device = [&](const void* data, const Shape& shape, Dtype dtype) {
    return x.backend().from_host(data, shape, dtype, x.device());
  };
  Shape along = Shape::filled(x.ndim() - axis, 1);
  along[0] = std::int64_t(outputs);
  Array y;
  for (std::size_t t = 0; t < terms; ++t) {
    std::vector<std::int64_t> at(outputs);
    std::vector<double> weight(outputs);
    for (std::size_t i = 0; i < outputs; ++i) {
      at[i] = taps.at[i][t];
      weight[i] = taps.weight[i][t];
    }
    const Array taken = autograd::take(x, on_device(at.data(), {along[0]}, Dtype::int64), axis);
    if (terms == 1 && std::all_of(weight.begin(), weight.end(), [](double w) { return w == 1; })) return taken;
    taken *= autograd::astype(on_device(weight.data(), along, Dtype::float64), x.dtype());
    if (t == 0) y = taken;
    else y += taken;
  }
  return y;
}

class Resampling final : public autograd::FunctionNode, public autograd::internal::HasOptions {
 public:
  Resampling(int axis, const Taps& taps) : axis_(axis), taps_(taps) {}
  std::string label() const override { return "Resampling"; }
  void options(autograd::internal::FunctionOptions& o) const override {
    std::vector<std::int64_t> outputs, inputs;
    std::vector<double> weights;
    for (std::size_t i = 0; i < taps_.at.size(); ++i)
      for (std::size_t k = 0; k < taps_.at[i].size(); ++k) {
        outputs.push_back(std::int64_t(i));
        inputs.push_back(taps_.at[i][k]);
        weights.push_back(taps_.weight[i][k]);
      }
    o.integer("axis", axis_);
    o.integers("outputs", outputs);
    o.integers("inputs", inputs);
    o.numbers("weights", weights);
  }

  Arrays forward(const Arrays& in) override {
    Taps taps = taps_;
    fill_up(taps);
    const Array& x = in[0];
    // Rows are moved faster than columns.
    if (axis_ + 1 < x.ndim() || axis_ == 0 || taps.at[0].size() == 1) return {mapped(x, axis_, taps)};
    const Array rows = autograd::contiguous(autograd::swapaxes(x, axis_ - 1, axis_));
    return {autograd::contiguous(autograd::swapaxes(mapped(rows, axis_ - 1, taps), axis_ - 1, axis_))};
  }

  Variables backward(const Targets&, const Variables& gy) override {
    return autograd::apply_node<Resampling>({gy[0]}, axis_, transposed(taps_, input_shape(0)[axis_]));
  }

 private:
  int axis_;
  Taps taps_;
};

}  // namespace

void internal::check_lengths(const char* op, const Variable& x, const autograd::Dims& lengths) {
  for (int a = 0; a < lengths.size(); ++a)
    catena::check<catena::ValueError>(lengths[a] >= 1 && x.shape(2 + a) >= 1, op, "spatial lengths of x ", x.shape(),
                                      " become ", lengths, "; they must be positive");
}

autograd::Variable internal::resampled(const Variable& x, int axis, Taps taps) {
  return autograd::apply_node<Resampling>({x}, axis, taps)[0];
}

}  // namespace nn
