// The order of einsum's contractions: the optimal one against all orders, and costs counted by hand.
#include <limits>
#include <random>

#include <boost/test/unit_test.hpp>

#include <catena/ndarray/ndarray.h>

namespace {

using Path = std::vector<nd::Dims>;

double work_of(const std::string& text, const std::vector<nd::Array>& arrays, const nd::EinsumOrder& order) {
  const std::vector<nd::Operand> operands(arrays.begin(), arrays.end());
  return nd::einsum_path(text, operands, {.optimize = order}).multiplications;
}

// The least work of all ways to contract pairs.
double least_work(const std::string& text, const std::vector<nd::Array>& operands, const Path& begun,
                  std::size_t left) {
  if (left == 1) return work_of(text, operands, begun);
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < left; ++i)
    for (std::size_t j = i + 1; j < left; ++j) {
      Path longer = begun;
      longer.push_back({i, j});
      least = std::min(least, least_work(text, operands, longer, left - 1));
    }
  return least;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(einsum_path)

BOOST_AUTO_TEST_CASE(costs) {
  const nd::Array a = nd::zeros({10, 100}), b = nd::zeros({100, 5}), c = nd::zeros({5, 50});
  const nd::EinsumPath path = nd::einsum_path("ij,jk,kl->il", a, b, c);
  BOOST_TEST((path.path.size() == 2 && path.path[0] == (nd::Dims{0, 1}) && path.path[1] == (nd::Dims{0, 1})));
  BOOST_TEST(path.multiplications == 10 * 100 * 5 + 10 * 5 * 50);
  BOOST_TEST(path.naive_multiplications == 10 * 100 * 5 * 50 * 2);
  BOOST_TEST(path.largest_intermediate == 10 * 50);
  BOOST_TEST(work_of("ij,jk,kl->il", {a, b, c}, Path{{1, 2}, {0, 1}}) == 100 * 5 * 50 + 10 * 100 * 50);
  BOOST_TEST(work_of("ij,jk,kl->il", {a, b, c}, false) == 10 * 100 * 5 + 10 * 5 * 50);
  BOOST_TEST(work_of("ij,jk,kl->il", {a, b, c}, Path{{0, 1, 2}}) == path.naive_multiplications);
  // Nothing is contracted.
  BOOST_TEST((nd::einsum_path("ij->i", a).path == Path{{0}}));
  // Of operands without a common axis the product comes last.
  BOOST_TEST((nd::einsum_path("i,jk,kl->ijl", nd::zeros(2), nd::zeros({3, 4}), nd::zeros({4, 5})).path[0] ==
              (nd::Dims{1, 2})));
  BOOST_CHECK_THROW(nd::einsum_path("ij,jk", a, c), nd::ValueError);
}

BOOST_AUTO_TEST_CASE(optimal_against_all_orders) {
  std::mt19937 random(7);
  for (int round = 0; round < 40; ++round) {
    const std::size_t n = 3 + std::size_t(round) % 3;
    std::vector<std::int64_t> lengths(7);
    for (std::int64_t& length : lengths) length = 1 + std::int64_t(random() % 9);
    std::string text, seen;
    std::vector<nd::Array> operands;
    for (std::size_t o = 0; o < n; ++o) {
      if (o > 0) text += ',';
      std::string own;
      nd::Shape shape;
      for (std::size_t axis = 0; axis < 7; ++axis) {
        if (random() % 3 != 0) continue;
        own += char('a' + axis);
        shape.push_back(lengths[axis]);
      }
      text += own;
      for (const char label : own)
        if (seen.find(label) == std::string::npos) seen += label;
      operands.push_back(nd::zeros(shape));
    }
    text += "->" + seen.substr(0, seen.size() / 3);
    BOOST_TEST_CONTEXT(text) {
      const double least = least_work(text, operands, {}, n), optimal = work_of(text, operands, "optimal");
      BOOST_TEST(optimal == least);
      BOOST_TEST(work_of(text, operands, "auto") == least);
      BOOST_TEST(work_of(text, operands, "greedy") >= least);
    }
  }
}

// Chains of up to eight matrices: the order of a chain is that of multi_dot's classical recursion.
BOOST_AUTO_TEST_CASE(chains) {
  std::mt19937 random(8);
  for (std::size_t n = 2; n <= 8; ++n) {
    std::vector<std::int64_t> sides(n + 1);
    for (std::int64_t& side : sides) side = 1 + std::int64_t(random() % 40);
    std::string text;
    std::vector<nd::Array> operands;
    for (std::size_t i = 0; i < n; ++i) {
      text += std::string(i > 0 ? "," : "") + char('a' + i) + char('b' + i);
      operands.push_back(nd::zeros({sides[i], sides[i + 1]}));
    }
    std::vector<std::vector<double>> work(n, std::vector<double>(n, 0));
    for (std::size_t length = 1; length < n; ++length)
      for (std::size_t i = 0; i + length < n; ++i) {
        const std::size_t j = i + length;
        work[i][j] = std::numeric_limits<double>::infinity();
        for (std::size_t k = i; k < j; ++k)
          work[i][j] =
              std::min(work[i][j], work[i][k] + work[k + 1][j] + double(sides[i] * sides[k + 1] * sides[j + 1]));
      }
    BOOST_TEST(work_of(text, operands, "optimal") <= work[0][n - 1]);
    BOOST_TEST(work_of(text, operands, "greedy") <= work_of(text, operands, false) * 4);
  }
}

BOOST_AUTO_TEST_SUITE_END()
