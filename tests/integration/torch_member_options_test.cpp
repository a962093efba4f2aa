// Members of Variable with PyTorch's options by name, lists that are taken apart, and further spellings, with the
// values that PyTorch gives.
#include <boost/test/unit_test.hpp>
#include <limits>
#include <utility>
#include <vector>

#include <catena/catena.h>

using autograd::Variable;
using Doubles = std::vector<double>;

namespace {

Doubles of(const Variable& v) { return nd::Array(v.data()).astype(nd::float64).to_vector<double>(); }
void check(const Variable& a, const Doubles& expected) {
  BOOST_TEST(of(a) == expected, boost::test_tools::tolerance(1e-6) << boost::test_tools::per_element());
}
Variable matrix() { return autograd::tensor({{1.0, 2.0, 3.0}, {6.0, 5.0, 4.0}}); }

}  // namespace

BOOST_AUTO_TEST_SUITE(torch_member_options)

BOOST_AUTO_TEST_CASE(reductions) {
  const Variable x = matrix();
  check(x.amax(1, {.keepdim = true}), {3, 6});
  BOOST_TEST(x.logsumexp(1, {.keepdim = true}).shape() == nd::Shape({2, 1}));
  check(x.median(1, {.keepdim = true}).values, {2, 5});
  BOOST_TEST(x.sum(1, {.keepdim = true, .dtype = nd::float64}).dtype() == nd::float64);
  check(x.cumsum(0, {.dtype = nd::float64}), {1, 2, 3, 7, 7, 7});
  check(x.cummax({.dim = 0}).values, {1, 2, 3, 6, 5, 4});
  const Variable gap = autograd::tensor({1.0, std::numeric_limits<double>::quiet_NaN(), 3.0});
  check(gap.nansum({.dim = 0}), {4});
  check(gap.nanmean(0), {2});
  check(gap.nan_to_num({.nan = 7.0}), {1, 7, 3});
  check(gap.clone().nan_to_num_(5.0), {1, 5, 3});
  check(x.quantile(0.5, {.dim = 1, .keepdim = true}), {2, 5});
  check(x.quantile(autograd::tensor({0.0, 1.0}), 1), {1, 4, 3, 6});
  check(x.diff({.dim = 0}), {5, 3, 1});
  check(x.kthvalue(2, {.dim = 1}).values, {2, 5});
}

BOOST_AUTO_TEST_CASE(elements_and_shapes) {
  const Variable x = matrix(), index = autograd::tensor({{0, 2}, {1, 1}});
  check(x.gather({.dim = 1, .index = index}), {1, 3, 5, 5});
  check(x.select({.dim = 0, .index = 1}), {6, 5, 4});
  check(x.narrow({.dim = 1, .start = 1, .length = 2}), {2, 3, 5, 4});
  check(x.sort({.dim = 1, .descending = true, .stable = true}).values, {3, 2, 1, 6, 5, 4});
  check(x.argsort(1, {.descending = true}), {2, 1, 0, 0, 1, 2});
  check(x.topk(1, 0, {.largest = false}).values, {1, 2, 3});
  check(x.diagonal({.offset = 1}), {2, 4});
  check(x.tril({.diagonal = -1}), {0, 0, 0, 6, 0, 0});
  check(x.roll({.shifts = 1, .dims = 1}), {3, 1, 2, 4, 6, 5});
  check(x.roll({1, 1}, {0, 1}), {4, 6, 5, 3, 1, 2});
  check(x.flip(0, 1), {4, 5, 6, 3, 2, 1});
  check(autograd::tensor({7, 8}).repeat_interleave(autograd::tensor({1, 2})), {7, 8, 8});
  check(x.scatter(1, autograd::tensor({{0}, {2}}), {.value = 9.0}), {9, 2, 3, 6, 5, 9});
  check(x.clone().scatter_(1, autograd::tensor({{0}, {2}}), autograd::tensor({{1.0}, {1.0}}), {.reduce = "add"}),
        {2, 2, 3, 6, 5, 5});
  check(x.scatter_reduce(1, autograd::tensor({{0}, {2}}), autograd::tensor({{0.0}, {9.0}}), "amax",
                         {.include_self = false}),
        {0, 2, 3, 6, 5, 9});
  const auto [values, counts] = [] {
    const auto u = autograd::tensor({3, 1, 3}).unique({.return_counts = true});
    return std::pair(u.output, u.counts);
  }();
  check(values, {1, 3});
  check(counts, {1, 2});
  const Variable y = autograd::zeros({3});
  y.index_put_({autograd::tensor({0, 2})}, 1.5, {.accumulate = true});
  check(y, {1.5, 0, 1.5});
}

BOOST_AUTO_TEST_CASE(conversions_and_new_tensors) {
  const Variable x = matrix();
  BOOST_TEST(x.to({.dtype = nd::float64}).dtype() == nd::float64);
  BOOST_TEST(!x.to({.copy = true}).is_same(x));
  BOOST_TEST(x.to("cpu", {.non_blocking = true}).is_same(x) == !x.is_cuda());
  BOOST_TEST(x.long_().dtype() == nd::int64);
  BOOST_TEST(x.new_zeros({2}, {.dtype = nd::int64}).dtype() == nd::int64);
  BOOST_TEST(x.new_ones({2, 2}, nd::float64).dtype() == nd::float64);
  BOOST_TEST(x.new_full({2}, 3, {.requires_grad = true}).requires_grad());
  check(x.new_tensor({{1, 2}, {3, 4}}), {1, 2, 3, 4});
  BOOST_TEST(x.stride() == nd::Dims({3, 1}));
  BOOST_TEST(x.device().index() == x.device().id);
  const Variable bits = autograd::tensor({1, 2, 3});
  check(bits & 1, {1, 0, 1});
  check(~bits, {-2, -3, -4});
  check(bits << 1, {2, 4, 6});
  Variable turned = bits;
  turned ^= bits;
  check(turned, {0, 0, 0});
}

BOOST_AUTO_TEST_CASE(lists_taken_apart) {
  const Variable x = matrix(), w = autograd::tensor({1.0, 2.0}, {.requires_grad = true}), v = w.detach() + 1;
  const Variable b = Variable(v.data());
  const auto [left, right] = x.split({1, 2}, 1);
  check(left, {1, 6});
  check(right, {2, 3, 5, 4});
  const auto [rows, columns] = autograd::meshgrid(autograd::arange(2), autograd::arange(3));
  check(rows, {0, 0, 0, 1, 1, 1});
  check(columns, {0, 1, 2, 0, 1, 2});
  const auto [gw, gb] = autograd::grad((w * b).sum(), {w, b});
  check(gw, {2, 3});
  check(gb, {1, 2});
  const auto unused = autograd::grad(w.sum(), {w, b}, {.allow_unused = true, .materialize_grads = true});
  check(unused[1], {0, 0});
  BOOST_TEST(!autograd::grad(w.sum(), {w, b})[1].defined());
}

BOOST_AUTO_TEST_CASE(backward_by_name) {
  const Variable w = autograd::tensor({1.0, 2.0}, {.requires_grad = true}), y = w * 3, other = Variable(w.data());
  (y * other).backward({.gradient = autograd::tensor({1.0, 10.0}), .inputs = {w}});
  check(w.grad(), {3, 60});
  BOOST_TEST(!other.grad().defined());
  w.cleargrad();
  autograd::backward({y.sum(), w.sum()},
                     {.grad_tensors = {autograd::tensor(2.0), autograd::tensor(1.0)}, .inputs = {w}});
  check(w.grad(), {7, 7});
  BOOST_CHECK_THROW(y.backward({.inputs = {w}}), catena::RuntimeError);
  BOOST_CHECK_THROW(autograd::backward({y.sum()}, {.grad_tensors = {y, y}}), catena::ValueError);
  BOOST_TEST(!autograd::no_grad()([&] { return w * 2; })().requires_grad());
  // Without `inputs`, options that both kinds of options have are not ambiguous.
  w.cleargrad();
  autograd::backward({(w * w).sum(), w.sum()}, {.create_graph = true});
  check(w.grad(), {3, 5});
  // Two inputs that get one gradient do not share memory with each other, nor with the gradient that was given.
  const Variable a = autograd::tensor({1.0, 2.0}, {.requires_grad = true}),
                 b = autograd::tensor({1.0, 2.0}, {.requires_grad = true}), g = autograd::tensor({1.0, 1.0});
  for (int k = 0; k < 2; ++k) (a + b).backward({.gradient = g, .inputs = {a, b}});
  (a * 1).sum().backward();
  check(a.grad(), {3, 3});
  check(b.grad(), {2, 2});
  check(g, {1, 1});
}

BOOST_AUTO_TEST_CASE(numbers_of_members) {
  const Variable x = autograd::tensor({2.0, 3.0}), n = autograd::tensor({2, 3});
  BOOST_TEST(bool(autograd::signbit(x.copysign(-0.0)).all()));
  BOOST_TEST(autograd::equal(x.float_power(0.1), autograd::float_power(x, 0.1)));
  BOOST_TEST(n.float_power(0.5).dtype() == nd::float64);
  BOOST_TEST(n.remainder(2).dtype() == nd::int64);
  BOOST_TEST(n.maximum(2.5).dtype() == nd::float32);
  BOOST_CHECK_THROW(autograd::Generator("cdua"), catena::ValueError);
  BOOST_TEST(autograd::Generator("cpu").initial_seed() == 0);
  BOOST_TEST(x.new_zeros({2}, "float64").dtype() == nd::float64);
  const auto swapped = autograd::vmap([](const Variable& r, const Variable& s) { return r * s; }, {0, std::nullopt});
  check(swapped(x, autograd::tensor(2.0)), {4, 6});
  check(autograd::kaiser_window(3, {.periodic = false, .beta = 0}), {1, 1, 1});
}

BOOST_AUTO_TEST_CASE(modules) {
  namespace linalg = autograd::linalg;
  const Variable a = autograd::tensor({{2.0, 1.0}, {0.0, 3.0}, {1.0, 1.0}}),
                 s = autograd::tensor({{2.0, 1.0}, {9.0, 2.0}});
  const auto [q, r] = linalg::qr(a, {.mode = "complete"});
  BOOST_TEST(q.shape() == nd::Shape({3, 3}));
  check(q.mm(r), of(a));
  check(q.t().mm(q), of(autograd::eye(3)));
  check(linalg::eigvalsh(s, {.UPLO = "U"}), {1, 3});
  BOOST_CHECK_THROW(linalg::eigh(s, "X"), catena::ValueError);
  BOOST_CHECK_THROW(linalg::qr(s, "full"), catena::ValueError);
  check(linalg::solve(s, autograd::eye(2), {.left = false}).mm(s), of(autograd::eye(2)));
  check(linalg::diagonal(s, {.offset = 1}), {1});
  autograd::Generator g("cpu");
  g.manual_seed(3);
  const auto state = g.get_state();
  const Variable first = autograd::rand({3}, {.generator = g});
  g.set_state(state);
  BOOST_TEST(autograd::equal(first, autograd::rand({3}, {.generator = g})));
  BOOST_TEST(g.initial_seed() == 3u);
  check(nn::prelu(autograd::tensor({{-4.0, 2.0}}), autograd::tensor({0.25})), {-1, 2});
  check(autograd::outer(autograd::arange(2), autograd::arange(3)), {0, 0, 0, 0, 1, 2});
  BOOST_CHECK_THROW(autograd::set_printoptions({.profile = "long"}), catena::ValueError);
}

BOOST_AUTO_TEST_SUITE_END()
