#include <catena/nn/walker_alias.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace nn {

using autograd::Dtype;
using catena::check;
using catena::ValueError;

WalkerAlias::WalkerAlias(const std::vector<double>& probs) {
  const std::size_t n = probs.size();
  check<ValueError>(n > 0, "WalkerAlias", "there are no probabilities");
  double total = 0, largest = 0;
  for (const double p : probs) {
    check<ValueError>(p >= 0 && std::isfinite(p), "WalkerAlias", "the probability ", p, " is no number from 0 on");
    total += p;
    largest = std::max(largest, p);
  }
  check<ValueError>(total > 0, "WalkerAlias", "all probabilities are 0");
  // If the sum is no normal float32, dividing would give 0 or infinity. Such probabilities are scaled so that the
  // largest is 1.
  double scale = 1;
  if (total < double(std::numeric_limits<float>::min()) || total > double(std::numeric_limits<float>::max())) {
    scale = largest;
    total = 0;
    for (const double p : probs) total += p / scale;
  }
  struct Share {
    double share;
    std::int32_t value;
  };
  std::vector<Share> shares(n);
  // Probabilities are float32, as in Chainer, so that the tables are equal.
  for (std::size_t k = 0; k < n; ++k)
    shares[k] = {double(float(probs[k] / scale) / float(total)) * double(n), std::int32_t(k)};
  std::stable_sort(shares.begin(), shares.end(), [](const Share& a, const Share& b) { return a.share < b.share; });
  // Each cell is filled by one value up to its threshold. Values whose share is larger than a cell fill the rest of the
  // preceding cells, in order.
  std::vector<float> threshold(n);
  std::vector<std::int32_t> values(2 * n);
  std::size_t filled = 0;
  for (std::size_t k = 0; k < n; ++k) {
    double rest = shares[k].share;
    while (rest > 1 && filled < k) {
      values[2 * filled + 1] = shares[k].value;
      rest -= 1.0 - double(threshold[filled++]);
    }
    threshold[k] = float(rest);
    values[2 * k] = shares[k].value;
  }
  // The remaining probability of the last cells is a rounding error, which is added to the value of the cell.
  for (; filled < n; ++filled) values[2 * filled + 1] = values[2 * filled];
  const std::int64_t cells = std::int64_t(n);
  threshold_ = autograd::array(threshold, {cells});
  values_ = autograd::array(values, {2 * cells});
}

Array WalkerAlias::sample(const Shape& shape) const {
  const std::int64_t n = threshold_.size();
  const Array place =
      autograd::random_uniform(shape, 0, 1, Dtype::float64, autograd::default_generator(), threshold_.device()) *
      double(n);
  // The product u n may be rounded to n.
  const Array cell = autograd::apply(catena::kernels::minimum, {autograd::astype(place, Dtype::int64), n - 1});
  const Array second = autograd::apply(catena::kernels::greater,
                                       {place - autograd::astype(cell, Dtype::float64),
                                        autograd::astype(autograd::take(threshold_, cell, 0), Dtype::float64)});
  return autograd::take(values_, cell * 2 + autograd::astype(second, Dtype::int64), 0);
}

void WalkerAlias::to_device(autograd::Device device) {
  const Array threshold = autograd::to_device(threshold_, device), values = autograd::to_device(values_, device);
  threshold_ = threshold;
  values_ = values;
}

Array as_mat(const Array& x) {
  check<ValueError>(x && x.ndim() > 0, "as_mat", "the array has no axes");
  std::int64_t rest = 1;
  for (int a = 1; a < x.ndim(); ++a) rest *= x.shape(a);
  return autograd::reshape(x, {x.shape(0), rest});
}

Array as_vec(const Array& x) {
  check<ValueError>(bool(x), "as_vec", "the array is null");
  return autograd::reshape(x, {x.size()});
}

}  // namespace nn
