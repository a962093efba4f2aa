// Functions as members of Variable: each gives what the function gives, and its gradient.
#include <boost/test/unit_test.hpp>

#include <complex>

#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/basic_math.h>
#include <catena/autograd/functions/linalg.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/testing.h>
#include <catena/tests/support/framework_derivatives.h>

using namespace autograd;
using test::spread;

namespace {

using V = const Variable&;

void check_same(const char* name, const Variable& a, const Variable& b) {
  BOOST_TEST_CONTEXT(name) {
    BOOST_CHECK(a.dtype() == b.dtype());
    BOOST_CHECK_EQUAL(a.shape(), b.shape());
    testing::assert_allclose(a.data(), b.data(), 0, 0);
    BOOST_TEST((a.creator() != nullptr) == (b.creator() != nullptr));
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(variable_members)

// A vector is a row on the left and a column on the right; leading axes broadcast.
BOOST_AUTO_TEST_CASE(matmul_of_vectors) {
  const Variable a(array<double>({1, 2, 3, 4, 5, 6}, {2, 3})), v(array<double>({1, 0, -1}, {3}));
  const Variable stack(array<double>({1, 1, 1, 0}, {1, 2, 2}));
  const auto check = [](const Variable& got, const Array& expected) {
    BOOST_CHECK_EQUAL(got.shape(), expected.shape());
    testing::assert_allclose(got.data(), expected, 0, 0);
  };
  check(a.matmul(v), array<double>({-2, -2}, {2}));
  check(a.matmul(v).matmul(a), array<double>({-10, -14, -18}, {3}));
  check(v.matmul(v), array<double>({2}, {}));
  check(stack.matmul(a), array<double>({5, 7, 9, 1, 2, 3}, {1, 2, 3}));
  check(a.dot(v), array<double>({-2, -2}, {2}));
  BOOST_CHECK_THROW(a.matmul(a), catena::InvalidType);
  const auto product = [](const Variables& x) { return Variables{x[0].matmul(x[1])}; };
  for (const auto& [x, y] : {std::pair(a, v), std::pair(v, a.transpose()), std::pair(v, v)})
    test::check_derivatives("matmul", product, {x.data(), y.data()});
}

BOOST_AUTO_TEST_CASE(numbers_of_complex_elements) {
  const Variable z(array<std::complex<double>>({{1, 2}}, {1})), real(array<std::complex<double>>({{3, 0}}, {1}));
  BOOST_CHECK_THROW((void)z.item(), catena::TypeError);
  BOOST_CHECK_THROW((void)double(z), catena::TypeError);
  BOOST_TEST(z.item<double>() == 1);
  BOOST_CHECK(z.item<std::complex<double>>() == std::complex<double>(1, 2));
  BOOST_TEST(real.item() == 3);
}

BOOST_AUTO_TEST_CASE(members_are_the_functions) {
  const Variable x(spread({2, 3}, 0.1, 0.9)), y(spread({2, 3}, 1, 2, 3)), square_matrix(spread({2, 2}));
  const Variable index(array<std::int64_t>({0, 2, 1, 1}, {2, 2})), mask(array<bool>({true, false, true}, {3}));
#define CATENA_MEMBER(name) check_same(#name, x.name(), autograd::name(x));
#include <catena/autograd/unary_members.inc>
#undef CATENA_MEMBER
  check_same("clone", x.clone(), x + 0);
  check_same("pow", x.pow(2), pow(x, 2));
  check_same("pow", x.pow(y), pow(x, y));
  check_same("clip", x.clip(0.3, 0.5), clip(x, 0.3, 0.5));
  check_same("clamp", x.clamp({}, 0.5), clip(x, {}, 0.5));
  check_same("clamp", x.clamp(0.5), clip(x, 0.5, {}));
  check_same("matmul", square_matrix.matmul(x), matmul(square_matrix, x));
  check_same("mm", square_matrix.mm(x), matmul(square_matrix, x));
  check_same("dot", x[0].dot(y[0]), sum(x[0] * y[0]));
  check_same("dot", square_matrix.dot(x), matmul(square_matrix, x));
  check_same("argmax", x.argmax(1), argmax(x, 1));
  check_same("argmin", x.argmin(), argmin(x));
  check_same("cumsum", x.cumsum(1), cumsum(x, 1));
  check_same("cumprod", x.cumprod(), cumprod(x));
  const auto [values, indices] = x.sort(0, true);
  check_same("sort", values, sort(x, 0, true).values);
  check_same("sort", indices, x.argsort(0, true));
  check_same("topk", x.topk(2).values, topk(x, 2).values);
  check_same("gather", x.gather(1, index), gather(x, 1, index));
  check_same("scatter", x.scatter(1, index, y), scatter(x, 1, index, y));
  check_same("scatter", x.scatter(1, index, 5), scatter(x, 1, index, 5));
  check_same("scatter_add", x.scatter_add(1, index, y), scatter_add(x, 1, index, y));
  check_same("index_select", x.index_select(1, index[0]), index_select(x, 1, index[0]));
  check_same("masked_fill", x.masked_fill(mask, 2), masked_fill(x, mask, 2));
  check_same("masked_select", x.masked_select(mask), masked_select(x, mask));
  check_same("flip", x.flip(1), flip(x, 1));
  check_same("roll", x.roll(1), roll(x, 1));
  check_same("tril", x.tril(), tril(x));
  check_same("tril, diagonal", tril(x, {.diagonal = -1}), tril(x, -1));
  check_same("triu, diagonal", triu(x, {.diagonal = 1}), triu(x, 1));
  check_same("triu", x.triu(1), triu(x, 1));
  check_same("repeat_interleave", x.repeat_interleave(2, 1), repeat(x, 2, 1));
  check_same("tile", x.tile({2, 1}), tile(x, {2, 1}));
  BOOST_CHECK_THROW(x[0].dot(y[0](Slice(0, 2))), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(shapes) {
  const Variable x(spread({2, 1, 3}));
  const auto is = [](const Variable& v, const Shape& shape) { BOOST_CHECK_EQUAL(v.shape(), shape); };
  is(x.squeeze(), {2, 3});
  is(x.squeeze(1), {2, 3});
  is(x.unsqueeze(0), {1, 2, 1, 3});
  is(x.unsqueeze(-1), {2, 1, 3, 1});
  is(x.flatten(), {6});
  is(x.flatten(1), {2, 3});
  is(x.flatten(0, 1), {2, 3});
  is(Variable(spread({})).flatten(), {1});
  is(x.view(3, -1), {3, 2});
  is(x.view({6}), {6});
  is(x.permute(2, 0, 1), {3, 2, 1});
  is(x.permute({1, 0, 2}), {1, 2, 3});
  is(x.swapaxes(0, -1), {3, 1, 2});
  is(x.moveaxis(0, 2), {1, 3, 2});
  is(x.squeeze().t(), {3, 2});
  is(x[0][0].t(), {3});
  is(x.expand(4, -1, 5, -1), {4, 2, 5, 3});
  is(x.expand({-1, 2, 3}), {2, 2, 3});
  is(x[0].expand_as(x), {2, 1, 3});
  BOOST_TEST(x.chunk(2, 2).size() == 2u);
  is(x.split(2, 2)[1], {2, 1, 1});
  is(x.split({1, 2}, -1)[1], {2, 1, 2});
  is(x.unbind()[1], {1, 3});
  BOOST_TEST(x.dim() == 3);
  BOOST_TEST(x.numel() == 6);
  BOOST_TEST(x.size() == 6);
  BOOST_TEST(x.size(0) == 2);
  BOOST_TEST(x.size(-1) == 3);
  BOOST_CHECK_THROW(x.size(3), catena::IndexError);
  BOOST_CHECK_THROW(x.t(), catena::ValueError);
  BOOST_CHECK_THROW(x.expand(-1, 2, 1, 3), catena::ValueError);
  BOOST_CHECK_THROW(x.flatten(2, 0), catena::ValueError);
  sum(x.expand(4, -1, 1, -1) * 2).backward();
  testing::assert_allclose(x.grad(), arrays::full({2, 1, 3}, 8, Dtype::float64), 0, 0);
}

BOOST_AUTO_TEST_CASE(graphs) {
  const Variable x(spread({3}));
  const Variable y = x * 2, cut = y.detach();
  BOOST_TEST(cut.creator() == nullptr);
  BOOST_TEST(!cut.requires_grad());
  BOOST_TEST(cut.data().get() == y.data().get());
  BOOST_TEST(x.array().get() == x.data().get());
  sum(cut * x).backward();
  testing::assert_allclose(x.grad(), y.data(), 0, 0);
  x.zero_grad();
  BOOST_TEST(!x.grad());
  const Variable copied = x.clone();
  fill(copied.data(), 1);
  BOOST_TEST(x.max().item<double>() < 1);
  x.requires_grad_(false);
  BOOST_TEST(!x.requires_grad());
  BOOST_TEST(x.requires_grad_().requires_grad());
  BOOST_CHECK_THROW(y.requires_grad_(false), catena::RuntimeError);
}

BOOST_AUTO_TEST_CASE(numbers_and_arrays_become_variables) {
  Variable t = 0.f;
  BOOST_CHECK(t.dtype() == Dtype::float32 && t.ndim() == 0);
  t = t + 2;
  BOOST_TEST(float(t) == 2.f);
  BOOST_TEST(double(t) == 2.);
  BOOST_TEST(t.item<int>() == 2);
  const Array a = spread({2});
  const Variable v = as_variable(a), w(a);
  BOOST_TEST(!v.requires_grad());
  BOOST_TEST(v.data().get() == a.get());
  BOOST_TEST(as_variable(w).is_same(w));
  BOOST_TEST(float(as_variable(3)) == 3.f);
}

BOOST_AUTO_TEST_SUITE_END()
