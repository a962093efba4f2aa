// Every function that takes arrays, on complex numbers: the values of NumPy 2, and a TypeError that names the dtype
// where NumPy raises one.
#include <cmath>
#include <complex>
#include <functional>
#include <map>

#include <catena/ndarray/ndarray.h>
#include <catena/tests/support/ndarray_values.h>

namespace {

using nd::Array;
using Arrays = std::vector<Array>;
using Function = std::function<Arrays(const Arrays&)>;
using Table = std::map<std::string, Function>;

#define ONE(name, ...)                                           \
  {                                                              \
    name, [](const Arrays& in) { return Arrays{(__VA_ARGS__)}; } \
  }
#define LIST(name, ...)                                        \
  {                                                            \
    name, [](const Arrays& in) { return Arrays(__VA_ARGS__); } \
  }
#define X in[0]
#define Y in[1]

Table elementwise() {
  Table table = {
      ONE("divmod", nd::divmod(X, X).first),
      ONE("modf", nd::modf(X).first),
      ONE("frexp", nd::frexp(X).first),
      ONE("nextafter", nd::nextafter(X, Y)),
      ONE("clip", nd::clip(X, 0, 1)),
      ONE("where", nd::where(X.real() > 0, X, Y)),
      ONE("where.scalar", nd::where(X.real() > 0, X, 0)),
      ONE("tri", nd::where(nd::eye(3) > 0, X, 0)),
      ONE("real", nd::real(X)),
      ONE("imag", nd::imag(X)),
      ONE("conj", nd::conj(X)),
      ONE("abs", nd::abs(X)),
      ONE("round.0", nd::round(X)),
      ONE("round.1", X.round(1)),
      ONE("round.2", nd::around(X, 2)),
      ONE("round.-1", nd::round(X, -1)),
      ONE("add.real", X + nd::arange(3.)),
      ONE("add.float32", X + nd::arange(3, nd::float32)),
      ONE("multiply.number", X * 2),
      ONE("multiply.imaginary", X * std::complex<double>(0, 2)),
      ONE("power.2", nd::power(X, 2)),
      ONE("packbits", nd::packbits(X)),
      ONE("full", nd::full({2}, std::complex<double>(1, 2), X.dtype())),
      ONE("eye", nd::eye(2, X.dtype())),
      ONE("copy", nd::copy(X)),
      ONE("astype.bool", X.astype(nd::bool_)),
      ONE("astype.int8", X.astype(nd::int8)),
      ONE("astype.int32", X.astype(nd::int32)),
      ONE("astype.int64", X.astype(nd::int64)),
      ONE("astype.uint8", X.astype(nd::uint8)),
      ONE("astype.float16", X.astype(nd::float16)),
      ONE("astype.float32", X.astype(nd::float32)),
      ONE("astype.float64", X.astype(nd::float64)),
      ONE("astype.complex64", X.astype(nd::complex64)),
      ONE("astype.complex128", X.astype(nd::complex128)),
  };
#define CATENA_UNARY(name) table.insert(ONE(#name, nd::name(X)));
#define CATENA_BINARY(name) table.insert(ONE(#name, nd::name(X, Y)));
#include <catena/kernels/lists/elementwise.inc>
#undef CATENA_UNARY
#undef CATENA_BINARY
  return table;
}

Table reductions() {
#define REDUCTION(name)                                                                         \
  ONE(#name, nd::name(X)), ONE(#name ".axis", nd::name(X, 1)), ONE(#name ".0", nd::name(X, 0)), \
      ONE(#name ".keepdims", nd::name(X, {.axis = {0, 2}, .keepdims = true}))
  return {
      REDUCTION(sum),
      REDUCTION(prod),
      REDUCTION(mean),
      REDUCTION(var),
      REDUCTION(std),
      REDUCTION(any),
      REDUCTION(all),
      REDUCTION(amax),
      REDUCTION(amin),
      REDUCTION(nanmax),
      REDUCTION(nanmin),
      REDUCTION(argmax),
      REDUCTION(argmin),
      ONE("count_nonzero", nd::array(nd::count_nonzero(X))),
      ONE("count_nonzero.axis", nd::count_nonzero(X, 1)),
      ONE("count_nonzero.0", nd::count_nonzero(X, 0)),
      ONE("count_nonzero.keepdims", nd::count_nonzero(X, {.axis = {0, 2}, .keepdims = true})),
      ONE("var.ddof", nd::var(X, {.axis = 0, .ddof = 1})),
      ONE("std.ddof", nd::std(X, {.axis = 0, .ddof = 1})),
      ONE("cumsum", nd::cumsum(X)),
      ONE("cumsum.axis", nd::cumsum(X, 1)),
      ONE("cumprod", nd::cumprod(X)),
      ONE("cumprod.axis", nd::cumprod(X, 1)),
      ONE("nancumsum", nd::nancumsum(X)),
      ONE("nancumsum.axis", nd::nancumsum(X, 1)),
      ONE("nancumprod", nd::nancumprod(X)),
      ONE("nancumprod.axis", nd::nancumprod(X, 1)),
      ONE("cumulative_sum", nd::cumulative_sum(X, {.axis = 1})),
      ONE("cumulative_prod", nd::cumulative_prod(X, {.axis = 1})),
      ONE("sort", nd::sort(X)),
      ONE("argsort", nd::argsort(X)),
      ONE("msort", nd::msort(X)),
      ONE("lexsort", nd::lexsort({X, X})),
      ONE("partition", nd::partition(X, 1)),
      ONE("argpartition", nd::argpartition(X, 1)),
      ONE("digitize", nd::digitize(X.real(), X)),
      LIST("nonzero", nd::nonzero(X)),
      ONE("argwhere", nd::argwhere(X)),
      ONE("flatnonzero", nd::flatnonzero(X)),
      ONE("bincount", nd::bincount(X)),
  };
}

Table shapes() {
  return {
      ONE("reshape", nd::reshape(X, {4, 6})),
      ONE("ravel", nd::ravel(X)),
      ONE("ravel.F", nd::ravel(X, nd::Order::F)),
      ONE("transpose", nd::transpose(X)),
      ONE("swapaxes", nd::swapaxes(X, 0, 2)),
      ONE("moveaxis", nd::moveaxis(X, 0, -1)),
      ONE("rollaxis", nd::rollaxis(X, 2)),
      ONE("expand_dims", nd::expand_dims(X, 1)),
      ONE("squeeze", nd::squeeze(X(nd::Slice(), nd::Slice({}, 1)))),
      ONE("atleast_1d", nd::atleast_1d(X)),
      ONE("atleast_2d", nd::atleast_2d(X)),
      ONE("atleast_3d", nd::atleast_3d(X)),
      ONE("broadcast_to", nd::broadcast_to(X, {2, 5})),
      ONE("tile", nd::tile(X, {2, 2})),
      ONE("repeat", nd::repeat(X, 2, 1)),
      ONE("flip", nd::flip(X, 1)),
      ONE("fliplr", nd::fliplr(X)),
      ONE("flipud", nd::flipud(X)),
      ONE("rot90", nd::rot90(X)),
      ONE("roll", nd::roll(X, 2)),
      ONE("pad", nd::pad(X, 1, "constant")),
      ONE("concatenate", nd::concatenate({X, Y})),
      ONE("stack", nd::stack({X, Y}, 1)),
      ONE("vstack", nd::vstack({X, Y})),
      ONE("hstack", nd::hstack({X, Y})),
      ONE("dstack", nd::dstack({X, Y})),
      ONE("column_stack", nd::column_stack({X, Y})),
      LIST("split", nd::split(X, 3, 1)),
      LIST("array_split", nd::array_split(X, 2)),
      LIST("hsplit", nd::hsplit(X, 3)),
      LIST("vsplit", nd::vsplit(X, 2)),
      LIST("dsplit", nd::dsplit(X, 2)),
      ONE("take", nd::take(X, {2, 0, 1}, 1)),
      ONE("take_along_axis", nd::take_along_axis(X, nd::array({{2, 0, 1}, {1, 1, 0}}), 1)),
      ONE("compress", nd::compress(nd::array({true, false, true}), X, 1)),
      ONE("extract", nd::extract(X.real() > 0, X)),
      ONE("choose", nd::choose(nd::array({{0, 1, 0}, {1, 1, 0}}), {X, Y})),
      ONE("diagonal", nd::diagonal(X)),
      ONE("diag", nd::diag(X)),
      ONE("diag.1", nd::diag(X, 1)),
      ONE("diagflat", nd::diagflat(X)),
  };
}

Table algebra() {
  return {
      ONE("dot", nd::dot(X, Y)),
      ONE("vdot", nd::vdot(X, Y)),
      ONE("inner", nd::inner(X, Y)),
      ONE("outer", nd::outer(X, Y)),
      ONE("matmul", nd::matmul(X, Y)),
      ONE("tensordot", nd::tensordot(X, Y, 2)),
      ONE("trace", nd::trace(X)),
      ONE("trace.1", nd::trace(X, 1)),
      ONE("matrix_power.-2", nd::linalg::matrix_power(X, -2)),
      ONE("matrix_power.-1", nd::linalg::matrix_power(X, -1)),
      ONE("matrix_power.0", nd::linalg::matrix_power(X, 0)),
      ONE("matrix_power.1", nd::linalg::matrix_power(X, 1)),
      ONE("matrix_power.3", nd::linalg::matrix_power(X, 3)),
      ONE("norm.none", nd::linalg::norm(X)),
      ONE("norm.1", nd::linalg::norm(X, 1)),
      ONE("norm.-1", nd::linalg::norm(X, -1)),
      ONE("norm.2", nd::linalg::norm(X, 2)),
      ONE("norm.-2", nd::linalg::norm(X, -2)),
      ONE("norm.inf", nd::linalg::norm(X, INFINITY)),
      ONE("norm.-inf", nd::linalg::norm(X, -INFINITY)),
      ONE("norm.fro", nd::linalg::norm(X, "fro")),
      ONE("norm.nuc", nd::linalg::norm(X, "nuc")),
      ONE("norm.0", nd::linalg::norm(X, 0)),
      ONE("norm.3", nd::linalg::norm(X, 3)),
      ONE("norm.0.5", nd::linalg::norm(X, 0.5)),
      ONE("norm.axis", nd::linalg::norm(X, {.axis = 1})),
      ONE("cond", nd::linalg::cond(X)),
      ONE("det", nd::linalg::det(X)),
      {"slogdet",
       [](const Arrays& in) {
         const auto r = nd::linalg::slogdet(X);
         return Arrays{r.sign, r.logabsdet};
       }},
      ONE("inv", nd::linalg::inv(X)),
      ONE("pinv", nd::linalg::pinv(X)),
      ONE("solve", nd::linalg::solve(X, Y)),
      ONE("lstsq", nd::linalg::lstsq(X, Y).x),
      ONE("svd", nd::linalg::svd(X).S),
      {"qr",
       [](const Arrays& in) {
         const auto r = nd::linalg::qr(X);
         return Arrays{nd::matmul(r.Q, r.R)};
       }},
      ONE("cholesky", nd::linalg::cholesky(X)),
      ONE("eigvalsh", nd::linalg::eigvalsh(X)),
      {"eigh",
       [](const Arrays& in) {
         const auto r = nd::linalg::eigh(X);
         return Arrays{nd::matmul(nd::matmul(r.eigenvectors, nd::diag(r.eigenvalues)), r.eigenvectors.conj().T())};
       }},
      ONE("matrix_rank", nd::linalg::matrix_rank(X)),
  };
}
#undef X
#undef Y

Table all_functions() {
  Table all = elementwise();
  for (const Table& more : {reductions(), shapes(), algebra()}) all.insert(more.begin(), more.end());
  return all;
}

std::string complex_difference(const Array& actual, const Array& expected, const test::Json& c) {
  if (!catena::is_complex_dtype(expected.dtype())) return test::difference(actual, expected, c);
  if (actual.dtype() != expected.dtype())
    return catena::concat("dtype ", actual.dtype(), " instead of ", expected.dtype());
  const std::string real = test::difference(actual.real(), expected.real(), c);
  return real.empty() ? test::difference(actual.imag(), expected.imag(), c) : real;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(complex_golden)

BOOST_AUTO_TEST_CASE(every_function_gives_the_values_of_numpy) {
  const Table functions = all_functions();
  const auto golden = test::Golden::open("nd_complex");
  golden.for_each([&](const test::Json& c) -> std::string {
    const std::string name = c["name"], function = c["function"];
    // The first operand is not sorted: positions depend on the order of the search.
    if (function == "searchsorted") return {};
    const auto f = functions.find(c["call"]);
    if (f == functions.end()) return function;
    const Arrays inputs = test::arrays_of(golden, c["inputs"]);
    Arrays outputs;
    try {
      outputs = f->second(inputs);
    } catch (const nd::TypeError& e) {
      BOOST_TEST(c.contains("raises"), name << ": " << e.what());
      BOOST_TEST(std::string(e.what()).find("complex") != std::string::npos, name << ": " << e.what());
      return {};
    }
    BOOST_TEST(!c.contains("raises"), name << ": NumPy refuses this");
    const Arrays expected = test::arrays_of(golden, c["outputs"]);
    BOOST_TEST(outputs.size() == expected.size(), name);
    for (std::size_t k = 0; k < std::min(outputs.size(), expected.size()); ++k)
      // The dtype of norms is the matter of ndarray/norm.
      CHECK_SAME(
          complex_difference(function == "norm" ? outputs[k].astype(expected[k].dtype()) : outputs[k], expected[k], c),
          name);
    return {};
  });
}

BOOST_AUTO_TEST_SUITE_END()
