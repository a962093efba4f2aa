#include <catena/nn/links/adaptive_log_softmax.h>

#include <algorithm>
#include <cmath>

#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/basic_math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/index_item.h>
#include <catena/nn/functions/activation.h>
#include <catena/nn/link_hook.h>

namespace nn {
namespace {

constexpr const char* kAdaptive = "AdaptiveLogSoftmaxWithLoss";

std::vector<std::int64_t> ends_of_clusters(int n_classes, std::vector<std::int64_t> cutoffs) {
  bool increase = !cutoffs.empty() && cutoffs[0] > 0;
  cutoffs.push_back(n_classes);
  for (std::size_t k = 1; k < cutoffs.size(); ++k) increase = increase && cutoffs[k - 1] < cutoffs[k];
  catena::check<catena::ValueError>(
      increase, kAdaptive, "the cutoffs must increase from at least 1 to at most n_classes - 1, ", n_classes - 1);
  return cutoffs;
}

Variable integers(const std::vector<std::int64_t>& values, const Shape& shape, const Variable& like) {
  return autograd::as_variable(autograd::array(values, shape, like.device()));
}
// The element of each row of x (n, m) at its column: (n).
Variable chosen_columns(const Variable& x, const std::vector<std::int64_t>& columns) {
  const auto n = std::int64_t(columns.size());
  return autograd::squeeze(autograd::take_along_axis(x, integers(columns, {n, 1}, x), 1), 1);
}
Variable chosen_rows(const Variable& x, const std::vector<std::int64_t>& rows) {
  return autograd::get_item(x, {autograd::IndexItem(integers(rows, {std::int64_t(rows.size())}, x).data())});
}

}  // namespace

AdaptiveLogSoftmaxWithLoss::AdaptiveLogSoftmaxWithLoss(int in, int n_classes, const std::vector<std::int64_t>& cutoffs,
                                                       const Options& o)
    : ends_(ends_of_clusters(n_classes, cutoffs)),
      head(in, int(ends_[0]) + int(cutoffs.size()), LinearOptions{.nobias = !o.head_bias}) {
  for (std::size_t k = 0; k < cutoffs.size(); ++k) {
    const int units = int(double(in) / std::pow(o.div_value, double(k + 1)));
    catena::check<catena::ValueError>(units >= 1, kAdaptive, "tail ", k, " has no units with div_value ", o.div_value,
                                      " and ", in, " features");
    const LinearOptions plain{.nobias = true};
    tail.push_back(Sequential(Linear(in, units, plain), Linear(units, int(ends_[k + 1] - ends_[k]), plain)));
  }
  name_params();
}

AdaptiveLogSoftmaxResult AdaptiveLogSoftmaxWithLoss::operator()(const Variable& given, const Variable& t) {
  LinkCall called(*this, given, t);
  const bool is_one = given.ndim() == 1;
  const Variable x = is_one ? autograd::expand_dims(given, 0) : given;
  const std::vector<std::int64_t> ids = autograd::to_vector<std::int64_t>(t.data());
  catena::check<catena::ValueError>(t.ndim() == given.ndim() - 1 && t.size() == x.shape(0), kAdaptive,
                                    "the targets have the shape ", t.shape(), ", and x ", given.shape());
  // Rows by cluster, the shortlist first, and the columns of the head and of the tails.
  std::vector<std::vector<std::int64_t>> rows(ends_.size()), columns(ends_.size());
  std::vector<std::int64_t> of_head;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    catena::check<catena::ValueError>(ids[i] >= 0 && ids[i] < ends_.back(), kAdaptive, "the target ", ids[i],
                                      " is no class in [0, ", ends_.back(), ")");
    const auto k = std::size_t(std::upper_bound(ends_.begin(), ends_.end(), ids[i]) - ends_.begin());
    of_head.push_back(k == 0 ? ids[i] : ends_[0] + std::int64_t(k) - 1);
    rows[k].push_back(std::int64_t(i));
    columns[k].push_back(k == 0 ? 0 : ids[i] - ends_[k - 1]);
  }
  Variable output = chosen_columns(log_softmax(head(x), 1), of_head);
  // The log probabilities within the clusters in the order of the rows; those of the shortlist are 0.
  std::vector<std::int64_t> position(ids.size());
  Variables parts;
  if (!rows[0].empty())
    parts.push_back(autograd::as_variable(
        autograd::arrays::zeros({std::int64_t(rows[0].size())}, output.dtype(), output.device())));
  std::int64_t next = 0;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    for (const std::int64_t row : rows[k]) position[std::size_t(row)] = next++;
    if (k > 0 && !rows[k].empty())
      parts.push_back(chosen_columns(log_softmax(tail[k - 1](chosen_rows(x, rows[k])), 1), columns[k]));
  }
  if (rows[0].size() < ids.size()) output = output + chosen_rows(autograd::concat(parts, 0), position);
  const Variable loss = -autograd::mean(output);
  AdaptiveLogSoftmaxResult result{is_one ? autograd::squeeze(output, 0) : output, loss};
  called.end({result.output, result.loss});
  return result;
}

Variable AdaptiveLogSoftmaxWithLoss::log_prob(const Variable& x) {
  std::vector<std::int64_t> sizes(ends_.size(), 1);
  sizes[0] = ends_[0];
  Variables parts = autograd::split(log_softmax(head(x), 1), sizes, 1);
  for (std::size_t k = 1; k < parts.size(); ++k) {
    const Variable within = log_softmax(tail[k - 1](x), 1);
    parts[k] = within + autograd::broadcast_to(parts[k], within.shape());
  }
  return autograd::concat(parts, 1);
}

Variable AdaptiveLogSoftmaxWithLoss::predict(const Variable& x) {
  const auto no_graph = autograd::no_backprop_mode();
  return autograd::argmax(log_prob(x), 1);
}

}  // namespace nn
