// The element types that numpy.dtype takes from a header. The expected types are those that np.load of NumPy 2.3 gives.
#include <boost/test/unit_test.hpp>

#include <catena/kernels/formats/byte_stream.h>
#include <catena/kernels/formats/npy.h>

#include <string>
#include <vector>

using namespace catena;

namespace {

// One element of bytes 1, 2, 3, ... with that descr, written as a Python literal.
std::string file_with(const std::string& descr) {
  std::string header = "{'descr': " + descr + ", 'fortran_order': False, 'shape': (1,), }";
  header.append(64 - (10 + header.size() + 1) % 64, ' ');
  header += '\n';
  std::string file("\x93NUMPY\1\0", 8);
  file += {static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)};
  file += header;
  for (char c = 1; c <= 16; ++c) file += c;
  return file;
}

NpyArray load(const std::string& descr) {
  const std::string file = file_with(descr);
  MemorySource source(io_context("load", "a.npy"), std::as_bytes(std::span(file)));
  return read_npy(source);
}

struct Spelling {
  const char* descr;
  Dtype dtype;
};
constexpr Spelling kSpellings[] = {
    {"f8", Dtype::float64},
    {"=f8", Dtype::float64},
    {"|f8", Dtype::float64},
    {"<f8", Dtype::float64},
    {"f4", Dtype::float32},
    {"f2", Dtype::float16},
    {"i8", Dtype::int64},
    {"i4", Dtype::int32},
    {"i2", Dtype::int16},
    {"i1", Dtype::int8},
    {"<i1", Dtype::int8},
    {"u8", Dtype::uint64},
    {"u4", Dtype::uint32},
    {"u2", Dtype::uint16},
    {"u1", Dtype::uint8},
    {"b1", Dtype::bool_},
    {"<b1", Dtype::bool_},
    {"c8", Dtype::complex64},
    {"c16", Dtype::complex128},
    {"?", Dtype::bool_},
    {"b", Dtype::int8},
    {"B", Dtype::uint8},
    {"h", Dtype::int16},
    {"H", Dtype::uint16},
    {"i", Dtype::int32},
    {"I", Dtype::uint32},
    {"l", Dtype::int64},
    {"L", Dtype::uint64},
    {"q", Dtype::int64},
    {"Q", Dtype::uint64},
    {"e", Dtype::float16},
    {"f", Dtype::float32},
    {"d", Dtype::float64},
    {"<d", Dtype::float64},
    {"=h", Dtype::int16},
    {"F", Dtype::complex64},
    {"D", Dtype::complex128},
    {"bool", Dtype::bool_},
    {"int", Dtype::int64},
    {"uint", Dtype::uint64},
    {"float", Dtype::float64},
    {"complex", Dtype::complex128},
    {"int8", Dtype::int8},
    {"int16", Dtype::int16},
    {"int32", Dtype::int32},
    {"int64", Dtype::int64},
    {"uint8", Dtype::uint8},
    {"uint16", Dtype::uint16},
    {"uint32", Dtype::uint32},
    {"uint64", Dtype::uint64},
    {"float16", Dtype::float16},
    {"float32", Dtype::float32},
    {"float64", Dtype::float64},
    {"complex64", Dtype::complex64},
    {"complex128", Dtype::complex128},
    {"half", Dtype::float16},
    {"single", Dtype::float32},
    {"double", Dtype::float64},
    {"short", Dtype::int16},
    {"intc", Dtype::int32},
    {"longlong", Dtype::int64},
    {"ubyte", Dtype::uint8},
};

}  // namespace

BOOST_AUTO_TEST_SUITE(npy_element_types)

BOOST_AUTO_TEST_CASE(spellings_of_native_elements_are_read) {
  for (const Spelling& s : kSpellings) {
    const NpyArray a = load("'" + std::string(s.descr) + "'");
    BOOST_TEST_REQUIRE(a.dtype.has_value(), s.descr);
    BOOST_TEST((*a.dtype == s.dtype), s.descr << " was read as " << *a.dtype);
    BOOST_TEST(a.descr == npy_descr(s.dtype), s.descr);
    BOOST_TEST_REQUIRE(a.data.size() == itemsize(s.dtype), s.descr);
    for (std::size_t i = 0; i < a.data.size(); ++i) BOOST_TEST(int(a.data[i]) == int(i) + 1, s.descr);
  }
}

BOOST_AUTO_TEST_CASE(letters_with_the_other_byte_order_are_swapped) {
  for (const char* descr : {"'>d'", "'>f8'", "'>D'", "'>q'"}) {
    const NpyArray a = load(descr);
    BOOST_TEST(int(a.data[0]) == 8, descr);
    BOOST_TEST(int(a.data[7]) == 1, descr);
  }
}

BOOST_AUTO_TEST_CASE(texts_keep_their_kind) {
  for (const char* descr : {"'S3'", "'<S3'", "'a3'", "'|S3'"}) BOOST_TEST(load(descr).descr == "|S3", descr);
  BOOST_TEST(load("'U3'").descr == "<U3");
  BOOST_TEST(load("'c'").descr == "|S1");
  BOOST_TEST(load("'M8[ns]'").descr == "<M8[ns]");
  BOOST_TEST((load("'<V2'").dtype == Dtype::bfloat16));
}

BOOST_AUTO_TEST_CASE(what_numpy_refuses_is_refused) {
  for (const char* descr : {"''", "'<'", "'f'8", "'<float64'", "'8f'", "'z4'", "'f8 x'", "f8", "'S0'"})
    BOOST_CHECK_THROW(load(descr), ValueError);
}

BOOST_AUTO_TEST_SUITE_END()
