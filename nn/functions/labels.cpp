#include <catena/nn/functions/labels.h>

#include <limits>

#include <catena/autograd/flag.h>
#include <catena/kernels/rows/bind.h>

namespace nn::internal {

void check_labels(std::string_view op, const autograd::Array& t, std::int64_t classes, std::optional<int> ignored,
                  bool allow_negative) {
  catena::IndexRule rule;
  rule.low = allow_negative ? std::numeric_limits<std::int64_t>::min() : 0;
  rule.high = classes;
  rule.ignored = ignored.value_or(0);
  rule.ignores = ignored.has_value();
  t.backend().check_indices({t.get(), rule, op});
  if (!autograd::is_debug() || t.device().kind == autograd::Device::Kind::cpu) return;
  for (const std::int64_t label : autograd::to_vector<std::int64_t>(t))
    if (catena::breaks(label, rule)) throw catena::ValueError(catena::index_message(op, label, rule));
}

}  // namespace nn::internal
