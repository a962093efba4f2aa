#include <catena/nn/checkpoint.h>

#include <catena/nn/link_hook.h>

namespace nn {

using catena::check;
using catena::ValueError;

namespace {

// The indices behind the ends of the parts, in ascending order.
std::vector<std::int64_t> ends_of(const Sequential& links, const CheckpointOptions& o) {
  const auto n = static_cast<std::int64_t>(links.size());
  std::vector<std::int64_t> ends;
  if (o.keep) {
    for (std::int64_t i = 0; i + 1 < n; ++i)
      if (o.keep(i, links[i])) ends.push_back(i + 1);
  } else {
    for (int k = 1; k < o.segments; ++k) ends.push_back(n * k / o.segments);
  }
  ends.push_back(n);
  return ends;
}

Variable part_of(const Sequential& links, std::int64_t first, std::int64_t last, const Variable& x) {
  Variable y = x;
  for (std::int64_t i = first; i < last; ++i) y = links[i](y);
  return y;
}

}  // namespace

Variable checkpoint_sequential(const Sequential& links, const Variable& x, const CheckpointOptions& o) {
  constexpr const char* kOp = "checkpoint_sequential";
  check<ValueError>(links.size() > 0, kOp, "there is nothing to call");
  check<ValueError>(o.segments >= 1 && o.segments <= static_cast<std::int64_t>(links.size()), kOp, "there are ",
                    links.size(), " elements for ", o.segments, " segments");
  const internal::CallScope scope(links);
  Variable y = x;
  std::int64_t first = 0;
  for (const std::int64_t last : ends_of(links, o)) {
    const bool is_last = last == static_cast<std::int64_t>(links.size());
    if (is_last) y = part_of(links, first, last, y);
    else
      y = autograd::checkpoint([&links, first, last](const Variable& v) { return part_of(links, first, last, v); },
                               {.policy = o.policy})(y);
    first = last;
  }
  return y;
}

}  // namespace nn
