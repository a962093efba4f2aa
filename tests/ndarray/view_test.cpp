// Views: random chains of view operations against a list of element numbers, reading, writing and computing through
// them.
#include <numeric>

#include <catena/ndarray/ndarray.h>
#include <catena/tests/support/ndarray_values.h>

namespace {

using nd::Array;
using test::difference;
using test::same_bits;

// The expected view of arange(n): its shape, and which elements of the original it shows in C order.
struct Model {
  nd::Shape shape;
  std::vector<std::int64_t> elements;

  std::int64_t at(const std::vector<std::int64_t>& index) const {
    std::int64_t flat = 0;
    for (int i = 0; i < shape.size(); ++i) flat = flat * shape[i] + index[std::size_t(i)];
    return elements[std::size_t(flat)];
  }
  // The model of another shape whose element `index` is element f(index) of this one.
  template <class F> Model map(const nd::Shape& to, F f) const {
    Model m{to, {}};
    std::vector<std::int64_t> index(std::size_t(to.size()), 0);
    for (std::int64_t n = catena::size_of(to); n > 0; --n) {
      m.elements.push_back(at(f(index)));
      for (int i = to.size() - 1; i >= 0 && ++index[std::size_t(i)] == to[i]; --i) index[std::size_t(i)] = 0;
    }
    return m;
  }
};

struct Pair {
  Array array;
  Model model;
};

Pair sliced(const Pair& p, std::mt19937& random) {
  const int axis = int(random() % std::uint32_t(p.array.ndim()));
  const std::int64_t n = p.array.shape()[axis];
  const std::int64_t step = 1 + std::int64_t(random() % 2),
                     count = n == 0 ? 0 : 1 + std::int64_t(random() % std::uint32_t((n + step - 1) / step));
  const bool backwards = random() % 2;
  const std::int64_t span = (count - 1) * step, first = n == 0 ? 0 : std::int64_t(random() % std::uint32_t(n - span));
  std::vector<nd::Key> keys;
  keys.assign(std::size_t(axis), nd::Slice());
  if (count == 0) keys.push_back(nd::Slice());
  else if (!backwards) keys.push_back(nd::Slice(first, first + span + 1, step));
  else keys.push_back(nd::Slice(first + span, first == 0 ? std::optional<std::int64_t>() : first - 1, -step));
  nd::Shape shape = p.model.shape;
  shape[axis] = count;
  return {p.array.index(keys), p.model.map(shape, [&](std::vector<std::int64_t> i) {
            std::int64_t& k = i[std::size_t(axis)];
            k = backwards ? first + span - k * step : first + k * step;
            return i;
          })};
}

Pair random_view(const Pair& p, std::mt19937& random) {
  const int rank = p.array.ndim();
  if (rank == 0) return {p.array(nd::newaxis), {{1}, p.model.elements}};
  switch (random() % 6) {
    case 0:
    case 1: return sliced(p, random);
    case 2: {  // one element of an axis
      const std::int64_t n = p.array.shape()[0];
      if (n == 0 || rank < 2) return sliced(p, random);
      const std::int64_t k = std::int64_t(random() % std::uint32_t(n));
      nd::Shape shape = p.model.shape;
      shape.erase(0);
      return {p.array(random() % 2 ? k : k - n), p.model.map(shape, [&](std::vector<std::int64_t> i) {
                i.insert(i.begin(), k);
                return i;
              })};
    }
    case 3: {
      const int a = int(random() % std::uint32_t(rank)), b = int(random() % std::uint32_t(rank));
      nd::Shape shape = p.model.shape;
      std::swap(shape[a], shape[b]);
      return {p.array.swapaxes(a, b), p.model.map(shape, [&](std::vector<std::int64_t> i) {
                std::swap(i[std::size_t(a)], i[std::size_t(b)]);
                return i;
              })};
    }
    case 4: {
      nd::Shape shape = p.model.shape;
      std::reverse(shape.begin(), shape.end());
      return {p.array.T(), p.model.map(shape, [](std::vector<std::int64_t> i) {
                std::reverse(i.begin(), i.end());
                return i;
              })};
    }
    default: {
      if (rank > 4) return {p.array.squeeze(), {p.array.squeeze().shape(), p.model.elements}};
      nd::Shape shape = p.model.shape;
      shape.push_back(1);
      return {p.array(nd::ellipsis, nd::newaxis), {shape, p.model.elements}};
    }
  }
}

Pair random_chain(std::mt19937& random, const Array& base) {
  Pair p{base, {base.shape(), std::vector<std::int64_t>(std::size_t(base.size()))}};
  std::iota(p.model.elements.begin(), p.model.elements.end(), 0);
  for (int n = int(random() % 6); n > 0; --n) p = random_view(p, random);
  return p;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(view)

BOOST_AUTO_TEST_CASE(reading_and_writing) {
  std::mt19937 random(1);
  for (int i = 0; i < 400; ++i) {
    const Array base = nd::arange(3 * 4 * 5).reshape(3, 4, 5);
    const Pair p = random_chain(random, base);
    BOOST_TEST(p.array.shape() == p.model.shape);
    BOOST_TEST(p.array.to_vector<std::int64_t>() == p.model.elements);
    BOOST_TEST(p.array.flatten().to_vector<std::int64_t>() == p.model.elements);
    BOOST_TEST(p.array.reshape(-1).to_vector<std::int64_t>() == p.model.elements);
    BOOST_TEST(p.array.copy(nd::Order::F).to_vector<std::int64_t>() == p.model.elements);
    BOOST_TEST(p.array.is_c_contiguous() == catena::is_c_contiguous(p.array.shape(), p.array.strides(), 8));
    BOOST_TEST((p.array.size() == 0 || p.array.shares_memory(base)));
    // Every element of the view changes, and no other.
    std::vector<std::int64_t> expected(60);
    std::iota(expected.begin(), expected.end(), 0);
    for (std::int64_t e : p.model.elements) expected[std::size_t(e)] += 100;
    Array target = p.array;
    target += 100;
    BOOST_TEST(base.to_vector<std::int64_t>() == expected);
    p.array.fill(-1);
    for (std::int64_t e : p.model.elements) expected[std::size_t(e)] = -1;
    BOOST_TEST(base.to_vector<std::int64_t>() == expected);
  }
}

BOOST_AUTO_TEST_CASE(views_and_copies_give_the_same_bits) {
  std::mt19937 random(2);
  for (nd::Dtype t : {nd::float32, nd::float64, nd::float16, nd::bfloat16, nd::int32}) {
    for (int i = 0; i < 60; ++i) {
      const Array base = test::random_array({7, 9, 11}, t, random);
      const Array v = random_chain(random, base).array, c = v.copy();
      BOOST_TEST(same_bits(v + v, c + c));
      BOOST_TEST(same_bits(nd::tanh(v), nd::tanh(c)));
      BOOST_TEST(same_bits(nd::exp(v) / 2 + 1, nd::exp(c) / 2 + 1));
      BOOST_TEST(same_bits(v.astype(nd::float32), c.astype(nd::float32)));
      BOOST_TEST(test::same_reduction(v.sum(), c.sum()));
      if (v.ndim() > 0) {
        BOOST_TEST(test::same_reduction(v.sum({.axis = 0}), c.sum({.axis = 0})));
        BOOST_TEST(
            test::same_reduction(v.mean({.axis = -1, .keepdims = true}), c.mean({.axis = -1, .keepdims = true})));
        BOOST_TEST(test::same_reduction(v.var({.axis = 0}), c.var({.axis = 0})));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(assignment_between_overlapping_views) {
  std::mt19937 random(3);
  for (int i = 0; i < 200; ++i) {
    const Array base = nd::arange(120).reshape(4, 5, 6), same = base.copy();
    const std::uint32_t seed = random();
    std::mt19937 first(seed), second(seed);
    const Array to = random_chain(first, base).array, from = random_chain(first, base).array;
    const Array to2 = random_chain(second, same).array, from2 = random_chain(second, same).array.copy();
    const auto assign = [](const Array& a, const Array& b) {
      try {
        nd::internal::assign("test", a, b);
        return true;
      } catch (const nd::ValueError&) {  // they do not broadcast
        return false;
      }
    };
    BOOST_TEST(assign(to, from) == assign(to2, from2));
    BOOST_TEST(same_bits(base, same));
  }
}

BOOST_AUTO_TEST_CASE(broadcast_views_are_not_written) {
  const Array line = nd::arange(3);
  const Array wide = nd::internal::make_view(line, {2, 3}, {0, 8});
  CHECK_SAME(difference(wide + 1, nd::array({{1, 2, 3}, {1, 2, 3}})), "sum");
  BOOST_CHECK_THROW(nd::internal::assign("test", wide, nd::ones({2, 3})), nd::ValueError);
  BOOST_CHECK_THROW(Array(wide) += 1, nd::ValueError);
  CHECK_SAME(difference(line, nd::array({0, 1, 2})), "unchanged");
}

BOOST_AUTO_TEST_SUITE_END()
