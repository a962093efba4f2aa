// Axes that an array does not have: every function throws NumPy's AxisError, which both kinds of handlers catch.
#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

#include <catena/ndarray/ndarray.h>
#include <catena/ndarray/sparse/sparse.h>
#include <catena/tests/support/message_of.h>

namespace {

using nd::Array;

struct Case {
  const char* name;
  void (*call)(int axis);
  int ndim = 2;  // the number of axes among which `axis` is looked for
};

const Array& a() {
  static const Array array = nd::arange(6.).reshape(2, 3);
  return array;
}
const Array& indices() {
  static const Array array = nd::zeros({2, 3}, nd::int64);
  return array;
}

const std::vector<Case> kReductions{
    {"sum", [](int k) { a().sum(k); }},
    {"prod", [](int k) { a().prod(k); }},
    {"max", [](int k) { a().max(k); }},
    {"min", [](int k) { a().min(k); }},
    {"mean", [](int k) { a().mean(k); }},
    {"var", [](int k) { a().var(k); }},
    {"std", [](int k) { a().std(k); }},
    {"all", [](int k) { (a() > 0).all(k); }},
    {"any", [](int k) { (a() > 0).any(k); }},
    {"argmax", [](int k) { nd::argmax(a(), {.axis = k}); }},
    {"argmin", [](int k) { nd::argmin(a(), {.axis = k}); }},
    {"ptp", [](int k) { nd::ptp(a(), k); }},
    {"median", [](int k) { nd::median(a(), k); }},
    {"percentile", [](int k) { nd::percentile(a(), 50, k); }},
    {"nansum", [](int k) { nd::nansum(a(), k); }},
    {"nanmax", [](int k) { nd::nanmax(a(), k); }},
    {"nanmean", [](int k) { nd::nanmean(a(), k); }},
    {"count_nonzero", [](int k) { nd::count_nonzero(a(), k); }},
    {"average", [](int k) { nd::average(a(), k); }},
    {"norm", [](int k) { nd::linalg::norm(a(), 2, k); }},
    {"logsumexp", [](int k) { nd::special::logsumexp(a(), k); }},
    {"csr_matrix.sum", [](int k) { nd::sparse::csr_matrix(a()).sum(k); }},
};

const std::vector<Case> kRows{
    {"cumsum", [](int k) { nd::cumsum(a(), k); }},
    {"cumprod", [](int k) { nd::cumprod(a(), k); }},
    {"diff", [](int k) { nd::diff(a(), 1, k); }},
    {"gradient", [](int k) { nd::gradient(a(), {.axis = k}); }},
    {"trapezoid", [](int k) { nd::trapezoid(a(), {.axis = k}); }},
    {"unwrap", [](int k) { nd::unwrap(a(), {.axis = k}); }},
    {"sort", [](int k) { nd::sort(a(), k); }},
    {"argsort", [](int k) { nd::argsort(a(), k); }},
    {"partition", [](int k) { nd::partition(a(), 0, k); }},
    {"fft", [](int k) { nd::fft::fft(a(), {.axis = k}); }},
    {"fftshift", [](int k) { nd::fft::fftshift(a(), k); }},
    {"softmax", [](int k) { nd::special::softmax(a(), k); }},
    {"cross", [](int k) { nd::linalg::cross(a(), a(), k); }},
    {"apply_along_axis", [](int k) { nd::apply_along_axis([](const Array& row) { return row.sum(); }, k, a()); }},
    {"sliding_window_view", [](int k) { nd::sliding_window_view(a(), {1}, k); }},
};

const std::vector<Case> kShapes{
    {"shape", [](int k) { a().shape(k); }},
    {"concatenate",
     [](int k) {
       nd::concatenate({a(), a()}, k);
     }},
    {"stack",
     [](int k) {
       nd::stack({a(), a()}, k);
     },
     3},
    {"expand_dims", [](int k) { nd::expand_dims(a(), k); }, 3},
    {"expand_dims of several",
     [](int k) {
       nd::expand_dims(a(), {0, k});
     },
     4},
    {"squeeze", [](int k) { a().squeeze(k); }},
    {"swapaxes", [](int k) { a().swapaxes(0, k); }},
    {"moveaxis", [](int k) { nd::moveaxis(a(), k, 0); }},
    {"moveaxis to", [](int k) { nd::moveaxis(a(), 0, k); }},
    {"rollaxis", [](int k) { nd::rollaxis(a(), k); }},
    {"transpose", [](int k) { a().transpose(0, k); }},
    {"split", [](int k) { nd::split(a(), 1, k); }},
    {"array_split", [](int k) { nd::array_split(a(), 2, k); }},
    {"unstack", [](int k) { nd::unstack(a(), k); }},
    {"flip", [](int k) { nd::flip(a(), k); }},
    {"roll", [](int k) { nd::roll(a(), 1, k); }},
    {"repeat", [](int k) { nd::repeat(a(), 2, k); }},
    {"rot90",
     [](int k) {
       nd::rot90(a(), 1, {0, k});
     }},
    {"append", [](int k) { nd::append(a(), a(), k); }},
    {"delete_", [](int k) { nd::delete_(a(), 0, k); }},
    {"insert", [](int k) { nd::insert(a(), 0, 1., k); }},
    {"unique", [](int k) { nd::unique(a(), {.axis = k}); }},
};

const std::vector<Case> kElements{
    {"take", [](int k) { nd::take(a(), 0, k); }},
    {"take_along_axis", [](int k) { nd::take_along_axis(a(), indices(), k); }},
    {"put_along_axis", [](int k) { nd::put_along_axis(a().copy(), indices(), 1., k); }},
    {"compress", [](int k) { nd::compress(nd::array({true}), a(), k); }},
    {"diagonal", [](int k) { nd::diagonal(a(), 0, 0, k); }},
    {"trace", [](int k) { nd::trace(a(), 0, 0, k); }},
    {"tensordot",
     [](int k) {
       nd::tensordot(a(), a(), {{k}, {0}});
     }},
    {"minimum.reduce", [](int k) { nd::ufuncs::minimum.reduce(a(), k); }},
    {"add.accumulate", [](int k) { nd::ufuncs::add.accumulate(a(), k); }},
};

// `call` throws an AxisError with these numbers and NumPy's text after the operation.
void check_axis(const Case& c, int axis) {
  try {
    c.call(axis);
    BOOST_ERROR("no exception");
  } catch (const nd::AxisError& e) {
    BOOST_TEST(e.axis() == axis);
    BOOST_TEST(e.ndim() == c.ndim);
    const std::string text = e.what(), rule = ": axis " + std::to_string(axis) +
                                              " is out of bounds for array of dimension " + std::to_string(c.ndim);
    BOOST_TEST(text.ends_with(rule), text);
    BOOST_TEST(text.size() > rule.size());
  }
}

void check_all(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    BOOST_TEST_CONTEXT(c.name) {
      check_axis(c, c.ndim);
      check_axis(c, -c.ndim - 1);
      BOOST_CHECK_THROW(c.call(c.ndim), nd::ValueError);
      BOOST_CHECK_THROW(c.call(c.ndim), nd::IndexError);
      BOOST_CHECK_THROW(c.call(c.ndim), nd::Error);
      BOOST_CHECK_THROW(c.call(c.ndim), std::exception);
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(axis_error)

BOOST_AUTO_TEST_CASE(reductions) { check_all(kReductions); }
BOOST_AUTO_TEST_CASE(functions_of_rows) { check_all(kRows); }
BOOST_AUTO_TEST_CASE(functions_of_shapes) { check_all(kShapes); }
BOOST_AUTO_TEST_CASE(functions_of_elements) { check_all(kElements); }

BOOST_AUTO_TEST_CASE(operations_are_named) {
  BOOST_TEST(test::message_of<nd::AxisError>([] { a().sum(3); }) ==
             "sum: axis 3 is out of bounds for array of dimension 2");
  BOOST_TEST(test::message_of<nd::AxisError>([] {
               nd::concatenate({a(), a()}, -3);
             }) == "concatenate: axis -3 is out of bounds for array of dimension 2");
}

BOOST_AUTO_TEST_SUITE_END()
