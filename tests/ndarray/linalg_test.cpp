// Golden cases of linear algebra; products of arrays: all pairs of dtypes, layouts, exactness, empty contractions,
// errors. (Decompositions and what follows from them: decompositions_test.cpp, equations_test.cpp, norm_test.cpp.)
#include <catena/ndarray/routines/linalg.h>

#include <catena/ndarray/routines/manipulation.h>
#include <catena/ndarray/routines/math.h>
#include <catena/ndarray/routines/reduction.h>
#include <catena/tests/support/cuda_device/control.h>
#include <catena/tests/support/host_matrices.h>

namespace {

using nd::Array;
using nd::Slice;
using test::difference;
using test::message_of;
using test::same_bits;

nd::Dims dims_of(const test::Json& j) {
  if (j.is_number()) return {j.get<std::int64_t>()};
  return j.get<std::vector<std::int64_t>>();
}

// Nothing when there is no such function.
std::optional<Array> run_case(const test::Json& c, const Array& a, const Array& b) {
  const std::string f = c["function"];
  if (f == "dot") return nd::dot(a, b);
  if (f == "inner") return nd::inner(a, b);
  if (f == "outer") return nd::outer(a, b);
  if (f == "vdot") return nd::vdot(a, b);
  if (f == "matmul") return nd::matmul(a, b);
  if (f == "tensordot") {
    const auto& axes = c["args"]["axes"];
    return axes.is_number() ? nd::tensordot(a, b, axes.get<int>())
                            : nd::tensordot(a, b, {dims_of(axes[0]), dims_of(axes[1])});
  }
  return {};
}

nd::linalg::NormOrder order_of(const test::Json& j) {
  if (j.is_null()) return {};
  if (j.is_number()) return j.get<double>();
  const std::string name = j;
  if (name == "inf" || name == "-inf") return name == "inf" ? nd::inf : -nd::inf;
  return name == "fro" ? "fro" : name == "f" ? "f" : "unknown";
}

Array norm_of(const test::Json& args, const Array& x) {
  nd::linalg::NormOptions options;
  if (args.contains("ord")) options.ord = order_of(args["ord"]);
  if (args.contains("axis") && !args["axis"].is_null()) options.axis = dims_of(args["axis"]);
  if (args.contains("keepdims")) options.keepdims = args["keepdims"];
  return nd::linalg::norm(x, options);
}

// Runs a case of one operand; a text for what is wrong. Factors are free up to signs, so their product is compared, and
// what is not free: the singular values, the absolute values of R.
std::string run_decomposition(const test::Json& c, const Array& a, const Array& expected) {
  const std::string f = c["function"];
  const double atol = c["tolerance"][0];
  if (f == "linalg.norm") return difference(norm_of(c["args"], a), expected, c);
  if (f == "linalg.cholesky") return difference(nd::linalg::cholesky(a), expected, c);
  const test::Matrix matrix = test::matrices_of(a)[0];
  const auto compare = [&](const test::Matrix& product) {
    return distance(product, matrix) <= 10 * atol ? "" : "the product of the factors is another matrix";
  };
  const auto orthonormal = [&](const test::Matrix& q) {
    return distance(adjoint(q) * q, test::unit(q.columns)) <= 10 * atol ? "" : "a factor is not orthonormal";
  };
  if (f == "linalg.qr") {
    const auto [q, r] = nd::linalg::qr(a, c["args"]["mode"].get<std::string>());
    const test::Matrix left = test::matrices_of(q)[0];
    return difference(nd::absolute(r), expected, c) + compare(left * test::matrices_of(r)[0]) + orthonormal(left);
  }
  const auto [u, s, vh] = nd::linalg::svd(a);
  const test::Matrix left = test::matrices_of(u)[0], right = test::matrices_of(vh)[0];
  const test::Matrix middle = test::diagonal(test::columns_of(s)[0], left.columns, right.rows);
  return difference(s, expected, c) + compare(left * middle * right) + orthonormal(left) + orthonormal(right);
}

// The product by its definition, in double.
Array slow_matmul(const Array& a, const Array& b) {
  return nd::sum(nd::expand_dims(a.astype(nd::float64), 2) * nd::expand_dims(b.astype(nd::float64), 0), {.axis = 1});
}

}  // namespace

BOOST_AUTO_TEST_SUITE(linalg)

BOOST_AUTO_TEST_CASE(golden_cases) {
  const auto golden = test::Golden::open("nd_linalg");
  std::mt19937 random(1);
  test::Turns turns("golden norms");
  golden.for_each([&](const test::Json& c) -> std::string {
    const std::string function = c["function"];
    const auto in = test::arrays_of(golden, c["inputs"]);
    if (in.size() == 1) {
      Array expected = test::array_of(golden.array(c["outputs"][0]));
      if (function == "linalg.norm") {
        if (!turns.take_case()) return {};
        // The NumPy of the reference gave float64 for general orders; NumPy 2 keeps the dtype of floats.
        if (nd::issubdtype(in[0].dtype(), nd::Kind::floating)) expected = expected.astype(in[0].dtype());
      }
      for (const Array& a : {in[0], test::scattered(in[0], random)}) {
        const auto before = test::bytes_of(a);
        CHECK_SAME(run_decomposition(c, a, expected), c["name"].get<std::string>());
        BOOST_TEST((test::bytes_of(a) == before));
      }
      return {};
    }
    const auto actual = run_case(c, in[0], in[1]);
    if (!actual) return function;
    const Array expected = test::array_of(golden.array(c["outputs"][0]));
    CHECK_SAME(difference(*actual, expected, c), c["name"].get<std::string>());
    CHECK_SAME(difference(*run_case(c, test::scattered(in[0], random), test::scattered(in[1], random)), expected, c),
               c["name"].get<std::string>() << " (scattered)");
    return {};
  });
}

BOOST_AUTO_TEST_CASE(every_pair_of_dtypes) {
  std::mt19937 random(2);
  for (nd::Dtype t : test::kAllDtypes)
    for (nd::Dtype u : test::kAllDtypes) {
      const Array a = nd::array({{1, 0, 2}, {3, 1, 0}}).astype(t), b = nd::array({{1, 2}, {0, 1}, {3, 0}}).astype(u);
      const nd::Dtype both = nd::promote_types(t, u);
      const Array expected = slow_matmul(a, b).astype(both);
      CHECK_SAME(difference(nd::dot(a, b), expected), t << " x " << u);
      CHECK_SAME(difference(nd::matmul(test::scattered(a, random), test::scattered(b, random)), expected),
                 t << " x " << u << " (scattered)");
    }
}

BOOST_AUTO_TEST_CASE(layouts_give_the_same_bits) {
  std::mt19937 random(3);
  for (nd::Dtype t : {nd::float32, nd::float64, nd::float16, nd::bfloat16, nd::int32, nd::bool_}) {
    const Array a = test::random_array({33, 17}, t, random), b = test::random_array({17, 29}, t, random);
    const Array expected = nd::matmul(a, b);
    const double tolerance = t == nd::float32 ? 1e-5 : (t == nd::float64 ? 1e-13 : (nd::itemsize(t) == 2 ? 1e-2 : 0));
    CHECK_SAME(difference(nd::matmul(test::scattered(a, random), b(Slice({}, {}, -1))(Slice({}, {}, -1))), expected,
                          tolerance, tolerance),
               t);
    CHECK_SAME(difference(nd::matmul(b.T(), a.T()).T(), expected, tolerance, tolerance), t);
    // The cuBLAS of a GPU has other kernels, which add in another order, for transposed operands.
    const Array columns = nd::matmul(a.copy(nd::Order::F), b), of_columns = nd::matmul(a, b.copy(nd::Order::F));
    if (nd::current_device() == nd::cpu_device || cuda_device::Control::available())
      BOOST_TEST(same_bits(columns, of_columns), t);
    else CHECK_SAME(difference(columns, of_columns, tolerance, tolerance), t);
  }
}

BOOST_AUTO_TEST_CASE(integers_are_exact) {
  const Array big = nd::array({{9007199254740993, 1L}}), one = nd::array({{1}, {2}});
  BOOST_TEST(nd::dot(big, one)(0, 0).item<std::int64_t>() == 9007199254740995);
  const Array wrap = nd::array({{200, 100}}, {.dtype = nd::uint8}), ones = nd::ones({2, 1}, nd::uint8);
  BOOST_TEST(nd::dot(wrap, ones)(0, 0).item<int>() == 44);
  const Array t = nd::array({{true, true}, {false, false}});
  CHECK_SAME(difference(nd::matmul(t, t), t), "bool: or of ands");
}

BOOST_AUTO_TEST_CASE(float16_accumulates_in_float32) {
  for (nd::Dtype t : {nd::float16, nd::bfloat16}) {
    const Array a = nd::full({1, 4096}, 0.5, {.dtype = t}), b = nd::ones({4096, 1}, t);
    BOOST_TEST(nd::dot(a, b)(0, 0).item<double>() == 2048);  // stepwise rounding would stop long before
    BOOST_TEST(nd::dot(a, b).dtype() == t);
  }
}

BOOST_AUTO_TEST_CASE(empty_contractions_are_zero) {
  for (nd::Dtype t : test::kAllDtypes) {
    CHECK_SAME(difference(nd::dot(nd::ones({2, 0}, t), nd::ones({0, 3}, t)), nd::zeros({2, 3}, t)), t);
    CHECK_SAME(difference(nd::inner(nd::ones({2, 0}, t), nd::ones({3, 0}, t)), nd::zeros({2, 3}, t)), t);
    CHECK_SAME(difference(nd::tensordot(nd::ones({2, 0}, t), nd::ones({0, 3}, t), 1), nd::zeros({2, 3}, t)), t);
    CHECK_SAME(difference(nd::vdot(nd::ones(0, t), nd::ones({0, 2}, t)), nd::zeros({}, t)), t);
    CHECK_SAME(difference(nd::matmul(nd::ones({5, 2, 0}, t), nd::ones({0, 3}, t)), nd::zeros({5, 2, 3}, t)), t);
  }
  BOOST_TEST(nd::dot(nd::ones({0, 3}), nd::ones({3, 2})).shape() == (nd::Shape{0, 2}));
  BOOST_TEST(nd::matmul(nd::ones({0, 2, 3}), nd::ones({3, 4})).shape() == (nd::Shape{0, 2, 4}));
  BOOST_TEST(nd::outer(nd::ones(0), nd::ones(2)).shape() == (nd::Shape{0, 2}));
}

BOOST_AUTO_TEST_CASE(batches) {
  std::mt19937 random(4);
  const Array a = test::random_array({3, 1, 4, 5}, nd::float64, random),
              b = test::random_array({2, 5, 6}, nd::float64, random);
  const Array c = nd::matmul(a, b);
  BOOST_TEST(c.shape() == (nd::Shape{3, 2, 4, 6}));
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 2; ++j) CHECK_SAME(difference(c(i, j), nd::dot(a(i, 0), b(j)), 1e-13, 1e-13), i << ", " << j);
  BOOST_TEST(nd::matmul(a, b(0, Slice(), 0)).shape() == (nd::Shape{3, 1, 4}));
  BOOST_TEST(nd::matmul(a(0, 0, 0), b).shape() == (nd::Shape{2, 6}));
  BOOST_TEST(nd::matmul(a(0, 0, 0), b(0, Slice(), 0)).ndim() == 0);
  CHECK_SAME(difference(nd::matmul(nd::broadcast_to(b(0), {7, 5, 6}).swapaxes(1, 2), b(0)),
                        nd::broadcast_to(nd::dot(b(0).T(), b(0)), {7, 6, 6}), 1e-13, 1e-13),
             "strides of 0");
}

BOOST_AUTO_TEST_CASE(outputs) {
  const Array a = nd::arange(6).reshape(2, 3), b = nd::arange(6).reshape(3, 2);
  Array out = nd::zeros({2, 2}, nd::int64);
  BOOST_TEST(nd::dot(a, b, {.out = out}).get() == out.get());
  CHECK_SAME(difference(out, nd::array({{10, 13}, {28, 40}})), "dot");
  Array square = nd::array({{1, 1}, {0, 1}});
  nd::dot(square, square, {.out = square});
  CHECK_SAME(difference(square, nd::array({{1, 2}, {0, 1}})), "the output is an operand");
  Array scaled = nd::zeros(6, nd::int64);
  nd::dot(a, nd::array(2), {.out = scaled});
  CHECK_SAME(difference(scaled, nd::arange(6) * 2), "0-d operand");
  Array wide = nd::zeros({2, 4}, nd::float64);
  const Array part = wide(Slice(), Slice({}, {}, 2));
  nd::outer(nd::array({1.0, 2.0}), nd::array({3.0, 4.0}), {.out = part});
  CHECK_SAME(difference(wide, nd::array({{3.0, 0.0, 4.0, 0.0}, {6.0, 0.0, 8.0, 0.0}})), "outer into gaps");
  BOOST_TEST(message_of<nd::ValueError>([&] {
               nd::dot(a, b, {.out = nd::zeros({2, 2})});
             }) == "dot: the output has dtype float64, the result has int64");
  BOOST_TEST(message_of<nd::ValueError>([&] { nd::dot(a, b, {.out = nd::zeros(3, nd::int64)}); }) ==
             "dot: the output has shape (3,), the result has (2, 2)");
  BOOST_TEST(message_of<nd::ValueError>([&] {
               nd::dot(a, b, {.out = nd::zeros({2, 2}, nd::int64).T()});
             }) == "dot: the output of shape (2, 2) and strides (8, 16) is not C-contiguous");
  BOOST_TEST(message_of<nd::ValueError>([&] { nd::outer(a, b, {.out = nd::zeros(3)}); }) ==
             "outer: the output has 3 elements, the result has the shape (6, 6)");
}

BOOST_AUTO_TEST_CASE(errors) {
  const Array a = nd::zeros({2, 3}), b = nd::zeros({2, 3});
  BOOST_TEST(message_of<nd::ValueError>([&] { nd::dot(a, b); }) ==
             "dot: shapes (2, 3) and (2, 3) do not match: length 3 of axis 1 and length 2 of axis 0 differ");
  BOOST_TEST(message_of<nd::ValueError>([&] { nd::matmul(a, b); }) ==
             "matmul: shapes (2, 3) and (2, 3) do not match: inner lengths 3 and 2 differ");
  BOOST_TEST(message_of<nd::ValueError>([&] { nd::matmul(a, nd::zeros({})); }) ==
             "matmul: operands have the ranks 2 and 0; 0-d arrays are not allowed, use multiply");
  BOOST_CHECK_THROW(nd::matmul(nd::zeros({2, 2, 3}), nd::zeros({3, 3, 2})), nd::ValueError);
  BOOST_TEST(message_of<nd::ValueError>([&] { nd::vdot(a, nd::zeros(5)); }) ==
             "vdot: shapes (2, 3) and (5,) have 6 and 5 elements");
  BOOST_CHECK_THROW(nd::inner(a, nd::zeros(2)), nd::ValueError);
  BOOST_TEST(message_of<nd::ValueError>([&] { nd::tensordot(a, b, 3); }) ==
             "tensordot: 3 axes cannot be summed over for arrays of ranks 2 and 2");
  BOOST_TEST(message_of<nd::ValueError>([&] {
               nd::tensordot(a, b, {{0, 1}, {0}});
             }) == "tensordot: axes (0, 1) and (0,) have different lengths");
  BOOST_CHECK_THROW(nd::tensordot(a, b, {{0, 0}, {0, 1}}), nd::ValueError);
  BOOST_CHECK_THROW(nd::tensordot(a, b, {2, 0}), nd::ValueError);
  BOOST_CHECK_THROW(nd::tensordot(a, nd::zeros({}), 1), nd::ValueError);
  CHECK_SAME(difference(nd::tensordot(a, nd::array(2.0), 0), a), "a 0-d operand without axes");
}

BOOST_AUTO_TEST_SUITE_END()
