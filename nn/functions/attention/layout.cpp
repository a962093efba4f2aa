#include <catena/nn/functions/attention/layout.h>

#include <algorithm>

#include <catena/autograd/array_backend.h>

namespace nn::internal {
namespace {

std::int64_t length(const Shape& s, int from_end) { return from_end <= s.size() ? s[s.size() - from_end] : 1; }

void require(bool fits, const char* rule, std::int64_t a, std::int64_t b) {
  if (!fits) throw catena::InvalidType(rule, catena::concat(a, " and ", b));
}

}  // namespace

AttentionLayout::AttentionLayout(const Shape& q, const Shape& k, const Shape& v)
    : queries(length(q, 2)), keys(length(k, 2)), depth(length(q, 1)), values(length(v, 1)) {
  require(depth == length(k, 1), "q.shape[-1] == k.shape[-1]", depth, length(k, 1));
  require(keys == length(v, 2), "k.shape[-2] == v.shape[-2]", keys, length(v, 2));
  const std::int64_t of_q = length(q, 3), of_k = length(k, 3), of_v = length(v, 3);
  heads = of_k == 1 ? of_v : of_k;
  require(of_v == heads || of_v == 1, "k and v have equal numbers of heads, or one has 1", of_k, of_v);
  if (of_q != 1) {
    require(heads > 0 ? of_q % heads == 0 : of_q == 0, "q has a multiple of the heads of k and v", of_q, heads);
    groups = heads > 0 ? of_q / heads : 1;
  }
  const int rank = std::max({q.size(), k.size(), v.size()});
  has_heads = rank >= 3;
  for (int i = rank; i > 3; --i) {
    std::int64_t n = 1;
    for (const Shape* s : {&q, &k, &v}) {
      const std::int64_t m = length(*s, i);
      require(m == n || m == 1 || n == 1, "the leading axes of q, k and v broadcast", n, m);
      if (m != 1) n = m;
    }
    lead.push_back(n);
  }
}

Shape AttentionLayout::with_heads(std::int64_t n, std::int64_t rows, std::int64_t columns) const {
  Shape s = lead;
  if (has_heads) s.push_back(n);
  s.push_back(rows);
  s.push_back(columns);
  return s;
}

Array AttentionLayout::view(const Array& a, bool shared, std::int64_t rows, std::int64_t columns) const {
  const int rank = a.ndim();
  const auto stride = [&](int from_end) {
    return from_end > rank || a.shape(rank - from_end) == 1 ? 0 : a.strides()[rank - from_end];
  };
  Shape shape = lead;
  autograd::Strides strides;
  for (int i = lead.size(); i > 0; --i) strides.push_back(stride(3 + i));
  const std::int64_t head = stride(3);
  for (const std::int64_t n : {heads, shared ? 1 : groups, rows, columns}) shape.push_back(n);
  for (const std::int64_t s : {shared ? head : head * groups, shared ? 0 : head, stride(2), stride(1)})
    strides.push_back(s);
  return a.backend().view(a, shape, strides, 0);
}

Variable AttentionLayout::grouped(const Variable& x, bool shared) const {
  Shape shape = x.shape();
  const int rank = shape.size();
  const std::int64_t rows = length(shape, 2), columns = length(shape, 1), n = length(shape, 3);
  while (shape.size() > std::max(0, rank - 3)) shape.pop_back();
  shape.push_back(n == 1 ? 1 : heads);
  shape.push_back(shared || n == 1 ? 1 : groups);
  shape.push_back(rows);
  shape.push_back(columns);
  return reshape(x, shape);
}

}  // namespace nn::internal
