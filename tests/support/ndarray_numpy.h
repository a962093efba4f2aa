// Tests whose values come from NumPy. A case has the variables of NumpyScene:
//
//   BOOST_FIXTURE_TEST_CASE(medians, test::NumpyScene) {
//     NUMPY("np.median(a, axis=0)", nd::median(a, 0), "float64 (4) 2.5 3 3.5 4");
//     NUMPY_RAISES("np.median(a, axis=2)", nd::median(a, 2), nd::IndexError);
//   }
//
// The last argument of NUMPY is written by tests/ndarray/numpy_values.py, which evaluates the first one. Values are
// texts of ndarray_text.h: dtype, shape, elements to 9 digits.
#pragma once

#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

#include <catena/ndarray/ndarray.h>
#include <catena/tests/support/ndarray_text.h>

namespace test {

// The variables that numpy_values.py has, too.
struct NumpyScene : NumpyVariables {
  NumpyScene();
  nd::Array d;                       // (3, 4), int64, with equal elements
  nd::Array t;                       // (4, 2, 2), float64: a view of q with negative and larger strides
  nd::Array g;                       // (3, 3), float64, with NaN and an infinity; a row is all NaN
  nd::Array e, e3;                   // (0) and (0, 3), float64
  nd::Array one, zero;               // (1) and (), float64
  std::vector<nd::Array> reals;      // d in the dtypes of real numbers that NumPy has, from bool to float64
  std::vector<nd::Array> floats;     // d / 4 in float16, float32, float64
  std::vector<nd::Array> complexes;  // in complex64 and complex128
};

// The results for the elements of a list of the scene.
template <class F> std::vector<nd::Array> each(const std::vector<nd::Array>& list, F&& f) {
  std::vector<nd::Array> results;
  for (const nd::Array& x : list) results.push_back(nd::Array(f(x)));
  return results;
}

void check_numpy(const char* file, int line, const char* theirs, const std::string& value, const std::string& expected);

}  // namespace test

#define NUMPY(theirs, ours, value) ::test::check_numpy(__FILE__, __LINE__, theirs, ::test::text(ours), value)
#define NUMPY_RAISES(theirs, ours, error) \
  BOOST_TEST_CONTEXT(theirs) { BOOST_CHECK_THROW(static_cast<void>(ours), error); }
