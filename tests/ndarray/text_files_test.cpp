// savetxt, loadtxt, genfromtxt, fromfile, fromstring and frombuffer beside NumPy: the texts that NumPy writes, and the
// arrays that it reads from the same texts.
#include <complex>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <catena/tests/support/message_of.h>
#include <catena/tests/support/ndarray_numpy.h>

namespace {

using nd::Array;
using test::each;

std::string saved(const Array& x, const nd::SavetxtOptions& options = {}) {
  std::ostringstream out;
  nd::savetxt(out, x, options);
  return out.str();
}
Array loaded(const std::string& text, const nd::LoadtxtOptions& options = {}) {
  std::istringstream in(text);
  return nd::loadtxt(in, options);
}
Array generated(const std::string& text, const nd::GenfromtxtOptions& options = {}) {
  std::istringstream in(text);
  return nd::genfromtxt(in, options);
}
struct TemporaryFile {
  std::string path =
      (std::filesystem::temp_directory_path() / ("catena_text_files_" + std::to_string(getpid()))).string();
  ~TemporaryFile() { std::filesystem::remove(path); }
};
bool has(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

}  // namespace

BOOST_AUTO_TEST_SUITE(text_files)

BOOST_FIXTURE_TEST_CASE(texts_that_are_written, test::NumpyScene) {
  // numpy: from io import StringIO
  // numpy: saved = lambda x, **o: (lambda f: (np.savetxt(f, x, **o), f.getvalue())[1])(StringIO())
  NUMPY("saved(v)", saved(v),
        "\"3.000000000000000000e+00\\n1.000000000000000000e+00\\n2.000000000000000000e+00\\n5.000000000000000000e+"
        "00\\n4.000000000000000000e+00\\n5.000000000000000000e-01\\n\"");
  NUMPY("saved(a, fmt='%.3f', delimiter=',')", saved(a, {.fmt = "%.3f", .delimiter = ","}),
        "\"0.500,1.000,1.500,2.000\\n2.500,3.000,3.500,4.000\\n4.500,5.000,5.500,6.000\\n\"");
  NUMPY("saved(d, fmt='%5d')", saved(d, {.fmt = "%5d"}),
        "\"    3     1     2     0\\n    7     2     2     5\\n    1     6     4     3\\n\"");
  NUMPY("saved(d, fmt=['%d', '%.1f', '%x', '%s'], newline=';')",
        saved(d, {.fmt = {"%d", "%.1f", "%x", "%s"}, .newline = ";"}), "\"3 1.0 2 0;7 2.0 2 5;1 6.0 4 3;\"");
  NUMPY("saved(h, fmt='%g', header='one\\ntwo', footer='end', comments='% ')",
        saved(h, {.fmt = "%g", .header = "one\ntwo", .footer = "end", .comments = "% "}),
        "\"% one\\n% two\\n1\\nnan\\n3\\ninf\\n% end\\n\"");
  NUMPY("saved(z, fmt='%.2f')", saved(z, {.fmt = "%.2f"}),
        "\" (3.00+1.00j)\\n (1.00+2.00j)\\n (2.00+0.50j)\\n (5.00+4.00j)\\n\"");
  NUMPY("saved(np.conj(z), fmt='%.1e')", saved(nd::conj(z), {.fmt = "%.1e"}),
        "\" (3.0e+00-1.0e+00j)\\n (1.0e+00-2.0e+00j)\\n (2.0e+00-5.0e-01j)\\n (5.0e+00-4.0e+00j)\\n\"");
  NUMPY("saved(e)", saved(e), "\"\"");
  NUMPY("saved(e3)", saved(e3), "\"\"");
  NUMPY("saved(t[0], fmt='%d')", saved(t(0), {.fmt = "%d"}), "\"3 11\\n15 23\\n\"");
  NUMPY("saved(m, fmt='%d')", saved(m, {.fmt = "%d"}), "\"0 0 0 0\\n1 1 1 1\\n1 1 1 1\\n\"");
  NUMPY_RAISES("saved(q)", saved(q), nd::ValueError);
  NUMPY_RAISES("saved(zero)", saved(zero), nd::ValueError);
  NUMPY_RAISES("saved(a, fmt=['%d', '%d'])", saved(a, {.fmt = {"%d", "%d"}}), nd::ValueError);
  NUMPY_RAISES("saved(a, fmt='%q')", saved(a, {.fmt = "%q"}), nd::ValueError);
}

BOOST_FIXTURE_TEST_CASE(tables_that_are_read, test::NumpyScene) {
  // numpy: from io import StringIO
  // numpy: loaded = lambda text, **o: np.loadtxt(StringIO(text), **o)
  NUMPY("loaded('1 2 3\\n4 5 6\\n')", loaded("1 2 3\n4 5 6\n"), "float64 (2, 3) 1 2 3 4 5 6");
  NUMPY("loaded('1,2\\n3, 4', delimiter=',')", loaded("1,2\n3, 4", {.delimiter = ","}), "float64 (2, 2) 1 2 3 4");
  NUMPY("loaded('# head\\n1 2 # two\\n\\n3 4\\n')", loaded("# head\n1 2 # two\n\n3 4\n"), "float64 (2, 2) 1 2 3 4");
  NUMPY("loaded('x\\ny\\n1 2\\n3 4\\n5 6', skiprows=2, max_rows=2)",
        loaded("x\ny\n1 2\n3 4\n5 6", {.skiprows = 2, .max_rows = 2}), "float64 (2, 2) 1 2 3 4");
  NUMPY("loaded('1 2 3\\n4 5 6', usecols=(2, 0))", loaded("1 2 3\n4 5 6", {.usecols = {2, 0}}),
        "float64 (2, 2) 3 1 6 4");
  NUMPY("loaded('1 2 3\\n4 5 6', usecols=-1)", loaded("1 2 3\n4 5 6", {.usecols = {-1}}), "float64 (2) 3 6");
  NUMPY("loaded('1 2 3\\n4 5 6', unpack=True)", loaded("1 2 3\n4 5 6", {.unpack = true}), "float64 (3, 2) 1 4 2 5 3 6");
  NUMPY("loaded('7')", loaded("7"), "float64 () 7");
  NUMPY("loaded('7', ndmin=1)", loaded("7", {.ndmin = 1}), "float64 (1) 7");
  NUMPY("loaded('7 8', ndmin=2)", loaded("7 8", {.ndmin = 2}), "float64 (1, 2) 7 8");
  NUMPY("loaded('7\\n8', ndmin=2)", loaded("7\n8", {.ndmin = 2}), "float64 (2, 1) 7 8");
  NUMPY("loaded('7\\n8')", loaded("7\n8"), "float64 (2) 7 8");
  NUMPY("loaded('+1.5e3 nan\\n-inf .5')", loaded("+1.5e3 nan\n-inf .5"), "float64 (2, 2) 1500 nan -inf 0.5");
  NUMPY("loaded('1 -2', dtype=np.int8)", loaded("1 -2", {.dtype = nd::int8}), "int8 (2) 1 -2");
  NUMPY("loaded('9007199254740993', dtype=np.int64)", loaded("9007199254740993", {.dtype = nd::int64}),
        "int64 () 9.00719925e+15");
  NUMPY("loaded('1 0 2', dtype=bool)", loaded("1 0 2", {.dtype = nd::bool_}), "bool (3) 1 0 1");
  NUMPY("loaded('(1+2j) 3-1e-1j 2j 5', dtype=np.complex128)", loaded("(1+2j) 3-1e-1j 2j 5", {.dtype = nd::complex128}),
        "complex128 (4) 1 2 3 -0.1 0 2 5 0");
  NUMPY("loaded('1.5 2\\r\\n3 4\\r\\n', dtype=np.float32)", loaded("1.5 2\r\n3 4\r\n", {.dtype = nd::float32}),
        "float32 (2, 2) 1.5 2 3 4");
  NUMPY_RAISES("loaded('1 2\\n3')", loaded("1 2\n3"), nd::ValueError);
  NUMPY_RAISES("loaded('1 two')", loaded("1 two"), nd::ValueError);
  NUMPY_RAISES("loaded('1.5', dtype=np.int64)", loaded("1.5", {.dtype = nd::int64}), nd::ValueError);
  NUMPY_RAISES("loaded('300', dtype=np.int8)", loaded("300", {.dtype = nd::int8}), nd::ValueError);
  NUMPY_RAISES("loaded('1 2', usecols=5)", loaded("1 2", {.usecols = {5}}), nd::ValueError);
  NUMPY_RAISES("loaded('1', ndmin=3)", loaded("1", {.ndmin = 3}), nd::ValueError);
  const std::string message = test::message_of<nd::ValueError>([] { loaded("1 2\n3 x\n"); });
  BOOST_TEST(has(message, "'x' in line 2, column 1"), message);
}

BOOST_FIXTURE_TEST_CASE(tables_with_holes, test::NumpyScene) {
  // numpy: from io import StringIO
  // numpy: generated = lambda text, **o: np.genfromtxt(StringIO(text), **o)
  NUMPY("generated('1,,3\\n4,x,6', delimiter=',')", generated("1,,3\n4,x,6", {.delimiter = ","}),
        "float64 (2, 3) 1 nan 3 4 nan 6");
  NUMPY("generated('1,NA,3\\n4,5,', delimiter=',', missing_values='NA', filling_values=-9)",
        generated("1,NA,3\n4,5,", {.delimiter = ",", .missing_values = {"NA"}, .filling_values = -9}),
        "float64 (2, 3) 1 -9 3 4 5 -9");
  NUMPY("generated('a b\\n1 2\\n3 4\\nsum 6', skip_header=1, skip_footer=1)",
        generated("a b\n1 2\n3 4\nsum 6", {.skip_header = 1, .skip_footer = 1}), "float64 (2, 2) 1 2 3 4");
  NUMPY("generated('1,,3', delimiter=',', dtype=int)", generated("1,,3", {.dtype = nd::int64, .delimiter = ","}),
        "int64 (3) 1 -1 3");
  NUMPY("generated('1 2 3\\n4 5 6', usecols=(0, 2), unpack=True)",
        generated("1 2 3\n4 5 6", {.usecols = {0, 2}, .unpack = true}), "float64 (2, 2) 1 4 3 6");
  NUMPY("generated('5\\n6\\n7', max_rows=2)", generated("5\n6\n7", {.max_rows = 2}), "float64 (2) 5 6");
  NUMPY_RAISES("generated('1 2\\n3')", generated("1 2\n3"), nd::ValueError);
}

BOOST_FIXTURE_TEST_CASE(files_and_bytes, test::NumpyScene) {
  const TemporaryFile file;
  nd::savetxt(file.path, a, "%.2f", ",");
  BOOST_TEST(bool(nd::array_equal(nd::loadtxt(file.path, {.delimiter = ","}), a)));
  BOOST_TEST(bool(nd::array_equal(nd::genfromtxt(file.path, {.delimiter = ","}), a)));
  a.tofile(file.path);
  BOOST_TEST(bool(nd::array_equal(nd::fromfile(file.path), a.ravel())));
  BOOST_TEST(bool(nd::array_equal(nd::fromfile(file.path, nd::float64, 3), a.ravel()(nd::Slice(3)))));
  BOOST_TEST(bool(nd::array_equal(nd::fromfile(file.path, {.count = 2, .offset = 16}), a.ravel()(nd::Slice(2, 4)))));
  BOOST_CHECK_THROW(nd::fromfile(file.path, {.count = 13}), nd::ValueError);
  BOOST_CHECK_THROW(nd::fromfile(file.path, {.offset = 97}), nd::ValueError);
  BOOST_CHECK_THROW(nd::fromfile(file.path, {.offset = 4}), nd::ValueError);
  a.tofile(file.path, ", ");
  BOOST_TEST(bool(nd::array_equal(nd::fromfile(file.path, {.sep = ","}), a.ravel())));
  BOOST_CHECK_THROW(nd::fromfile("/nowhere/x.bin"), catena::IOError);
  BOOST_CHECK_THROW(nd::loadtxt("/nowhere/x.txt"), catena::IOError);
  NUMPY("np.fromstring('1, 2, 3', sep=',')", nd::fromstring("1, 2, 3", nd::float64, -1, ","), "float64 (3) 1 2 3");
  NUMPY("np.fromstring('1 2\\n3', dtype=int, sep=' ')", nd::fromstring("1 2\n3", nd::int64), "int64 (3) 1 2 3");
  NUMPY("np.fromstring('1 2 3', count=2, sep=' ')", nd::fromstring("1 2 3", nd::float64, 2), "float64 (2) 1 2");
  NUMPY("np.frombuffer(b'\\x01\\x02\\x03\\x04', np.uint8)", nd::frombuffer("\1\2\3\4", nd::uint8), "uint8 (4) 1 2 3 4");
  NUMPY("np.frombuffer(b'\\x01\\x02\\x03\\x04', '<i2', count=1, offset=2)", nd::frombuffer("\1\2\3\4", nd::int16, 1, 2),
        "int16 (1) 1027");
  NUMPY_RAISES("np.frombuffer(b'\\x01\\x02\\x03', '<i2')", nd::frombuffer("\1\2\3", nd::int16), nd::ValueError);
  NUMPY_RAISES("np.frombuffer(b'\\x01\\x02', '<i2', count=2)", nd::frombuffer("\1\2", nd::int16, 2), nd::ValueError);
  BOOST_CHECK_THROW(nd::fromstring("1 x"), nd::ValueError);
  BOOST_TEST(bool(nd::array_equal(nd::frombuffer(a.tobytes()), a.ravel())));
}

BOOST_AUTO_TEST_SUITE_END()
