#include <catena/nn/functions/labels.h>

#include <limits>

#include <catena/autograd/array_backend.h>
#include <catena/autograd/flag.h>
#include <catena/kernels/registry/bind.h>
#include <catena/nn/functions/composed.h>

namespace nn::internal {

autograd::Array labels_of(const autograd::Array& t) { return converted(t, autograd::Dtype::int32); }

void check_labels(std::string_view op, const autograd::Array& t, std::int64_t classes, std::optional<int> ignored,
                  bool allow_negative) {
  catena::IndexRule rule;
  rule.low = allow_negative ? std::numeric_limits<std::int64_t>::min() : 0;
  rule.high = classes;
  rule.ignored = ignored.value_or(0);
  rule.ignores = ignored.has_value();
  // In debug mode the exception is Chainer's; otherwise it is that of indices.
  if (autograd::is_debug())
    for (const std::int64_t label : autograd::to_vector<std::int64_t>(t))
      if (catena::breaks(label, rule)) throw catena::ValueError(catena::index_message(op, label, rule));
  t.backend().execute(catena::call::CheckIndices{t.get(), rule, op});
}

}  // namespace nn::internal
