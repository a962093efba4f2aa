#include <boost/test/unit_test.hpp>

#include <catena/kernels/formats/byte_stream.h>
#include <catena/kernels/formats/npy.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include <catena/kernels/formats/npy_stream.h>
#include <catena/kernels/numeric.h>
#include <catena/tests/support/allocations.h>
#include <catena/tests/support/golden.h>

using namespace catena;

namespace {

using Bytes = std::vector<std::byte>;

template <class E, class F> std::string message_of(F&& f) {
  try {
    f();
  } catch (const E& e) {
    return e.what();
  }
  return "(nothing was thrown)";
}

Bytes file_bytes(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string s((std::istreambuf_iterator<char>(in)), {});
  const auto* p = reinterpret_cast<const std::byte*>(s.data());
  return {p, p + s.size()};
}

Bytes bytes_of(std::string_view s) {
  const auto* p = reinterpret_cast<const std::byte*>(s.data());
  return {p, p + s.size()};
}

NpyArray parse(std::span<const std::byte> bytes) {
  MemorySource source(io_context("load", "a.npy"), bytes);
  return read_npy(source);
}

// A version 1 file with this dictionary, unpadded.
Bytes npy_with(const std::string& dictionary, std::string_view data = "") {
  std::string s("\x93NUMPY\1\0", 8);
  s += static_cast<char>(dictionary.size() & 0xff);
  s += static_cast<char>(dictionary.size() >> 8);
  return bytes_of(s + dictionary + std::string(data));
}

std::string parse_message(const std::string& dictionary, std::string_view data = "") {
  const Bytes bytes = npy_with(dictionary, data);
  return message_of<ValueError>([&] { parse(bytes); });
}

double number(const test::Json& v) {
  if (v.is_boolean()) return v.get<bool>();
  if (!v.is_string()) return v.get<double>();
  const auto s = v.get<std::string>();
  return s == "nan" ? std::nan("") : s == "inf" ? HUGE_VAL : -HUGE_VAL;
}

// Compares with the shape, dtype and C-order values of an entry of nd_io/index.json.
void check_entry(const NpyArray& a, const test::Json& entry, const std::string& name) {
  BOOST_TEST((a.shape == Shape(entry["shape"].get<std::vector<std::int64_t>>())), name << " has shape " << a.shape);
  const auto& values = entry["values"];
  if (entry["dtype"] == "str") {
    BOOST_TEST(npy_text(a) == values[0].get<std::string>(), name);
    return;
  }
  BOOST_TEST_REQUIRE((a.dtype && name_of(*a.dtype) == entry["dtype"].get<std::string>()), name);
  BOOST_TEST_REQUIRE(a.data.size() == values.size() * itemsize(*a.dtype), name);
  visit_dtype(*a.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto got = a.as<T>();
    for (std::size_t i = 0; i < values.size(); ++i) {
      if constexpr (is_same<T, std::int64_t> || is_same<T, std::uint64_t>) {
        BOOST_TEST(got[i] == values[i].get<T>(), name << " element " << i);
      } else {
        const double g = convert<double>(got[i]), v = number(values[i]);
        BOOST_TEST(((std::isnan(g) && std::isnan(v)) || (g == v && std::signbit(g) == std::signbit(v))),
                   name << " element " << i << ": " << g << " not " << v);
      }
    }
  });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(npy)

BOOST_AUTO_TEST_CASE(files_of_numpy_are_read_and_written_alike) {
  const auto golden = test::Golden::open("nd_io/index");
  int read = 0, rewritten = 0;
  for (const auto& entry : golden.cases()) {
    const auto name = entry["file"].get<std::string>();
    if (!name.ends_with(".npy")) continue;
    ++read;
    const auto path = golden.folder() / name;
    FileSource source("load", path.string());
    const NpyArray a = read_npy(source);
    BOOST_TEST(source.remaining().value() == 0u);
    check_entry(a, entry, name);
    BOOST_TEST(a.descr == entry["descr"].get<std::string>());
    BOOST_TEST(a.fortran_order == entry["fortran_order"].get<bool>());
    // The same through a stream of unknown length.
    std::ifstream in(path, std::ios::binary);
    StreamSource stream("load: \"stream\"", in);
    BOOST_TEST((read_npy(stream).data == a.data), name);
    // Files of NumPy in the form in which we write are written byte for byte.
    if (a.fortran_order || a.descr[0] == '>' || entry["version"][0].get<int>() != 1 || name == "odd_header.npy")
      continue;
    MemorySink sink;
    write_npy(sink, *a.dtype, a.shape, a.data);
    BOOST_TEST((sink.bytes() == file_bytes(path)), name << " is written differently");
    ++rewritten;
  }
  BOOST_TEST(read == 60);
  BOOST_TEST(rewritten >= 25);
}

// Lengths of the headers that NumPy 1.24.4 writes: the padding rule at its borders.
BOOST_AUTO_TEST_CASE(headers_are_padded_as_in_numpy) {
  const auto size_with_ones = [](int ones, std::int64_t first, std::int64_t last) {
    Shape shape = Shape::filled(ones, 1);
    if (first) shape.insert(0, first);
    if (last) shape.push_back(last);
    return npy_header("<f8", shape).size();
  };
  BOOST_TEST(npy_header("<f4", {}).size() == 128u);
  BOOST_TEST(npy_header("<f4", {3}).size() == 128u);
  BOOST_TEST(size_with_ones(14, 0, 0) == 128u);
  BOOST_TEST(size_with_ones(15, 0, 0) == 192u);
  BOOST_TEST(size_with_ones(32, 0, 0) == 192u);
  BOOST_TEST(size_with_ones(13, 0, 10) == 128u);
  BOOST_TEST(size_with_ones(13, 0, 100) == 192u);
  BOOST_TEST(size_with_ones(13, 100, 0) == 128u);  // room for the first length is there whatever it is
  BOOST_TEST(size_with_ones(14, 100, 0) == 192u);
  const std::string h = npy_header("<f4", {3, 4});
  BOOST_TEST(h.substr(10, 59) == "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }");
  BOOST_TEST(h.back() == '\n');
}

BOOST_AUTO_TEST_CASE(every_dtype_survives) {
  std::mt19937 random(5);
  for (int i = 0; i < kNumDtypes; ++i) {
    const auto t = static_cast<Dtype>(i);
    for (const Shape& shape : {Shape{}, Shape{0}, Shape{2, 3, 4}, Shape{3, 0, 2}, Shape{7}}) {
      Bytes data(static_cast<std::size_t>(size_of(shape)) * itemsize(t));
      for (auto& b : data) b = std::byte(t == Dtype::bool_ ? random() % 2 : random() % 256);
      MemorySink sink;
      write_npy(sink, t, shape, data);
      const NpyArray a = parse(sink.bytes());
      BOOST_TEST((a.dtype == t && a.shape == shape && a.data == data), name_of(t) << ' ' << shape);
    }
  }
  BOOST_TEST(message_of<ValueError>([] {
               MemorySink sink;
               write_npy(sink, Dtype::int32, {2}, Bytes(7));
             }) == "write_npy: shape (2,) of int32 has 8 bytes, given were 7");
}

BOOST_AUTO_TEST_CASE(data_goes_straight_into_given_memory) {
  const std::string big_endian_fortran("\0\1\0\4\0\2\0\5\0\3\0\6", 12);
  const Bytes bytes = npy_with("{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3)}", big_endian_fortran);
  MemorySource source("load: \"m\"", bytes);
  const NpyHeader h = read_npy_header(source);
  BOOST_TEST(npy_dtype(source, h) == Dtype::int16);
  BOOST_TEST(h.data_bytes() == 12u);
  std::int16_t to[7] = {0, 0, 0, 0, 0, 0, 77};
  read_npy_data(source, h, to);
  const std::int16_t expected[7] = {1, 2, 3, 4, 5, 6, 77};
  BOOST_TEST(std::equal(to, to + 7, expected));
}

BOOST_AUTO_TEST_CASE(elements_come_in_parts) {
  const Bytes bytes = npy_with("{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3)}",
                               std::string("\0\1\0\4\0\2\0\5\0\3\0\6", 12) + "behind");
  const auto stream_of = [](const Bytes& b) {
    return NpyStream(Owned<ByteSource>(new MemorySource("load: \"m\"", b)));
  };
  NpyStream s = stream_of(bytes);
  BOOST_TEST((s.shape() == Shape{2, 3} && s.shape_in_file() == Shape{3, 2} && s.is_transposed()));
  BOOST_TEST((s.dtype() == Dtype::int16 && s.size() == 6 && !s.is_none() && !s.is_text()));
  std::int16_t to[7] = {0, 0, 0, 0, 0, 0, 77};
  const std::string odd = "load: \"m\": 3 bytes were asked for after 0 of 12",
                    many = "load: \"m\": 14 bytes were asked for after 0 of 12";
  BOOST_TEST(message_of<ValueError>([&] { s.read(to, 3); }) == odd);
  BOOST_TEST(message_of<ValueError>([&] { s.read(to, 14); }) == many);
  s.read(to, 4);
  s.read(to + 2, 0);
  BOOST_TEST(message_of<ValueError>([&] { s.read_all(); }) == "load: \"m\": read_all: 4 bytes have been read before");
  s.read(to + 2, 8);
  const std::int16_t in_file[7] = {1, 4, 2, 5, 3, 6, 77};
  BOOST_TEST(to == in_file, boost::test_tools::per_element());
  BOOST_CHECK_THROW(s.read(to, 2), ValueError);
  s.finish();
  const NpyArray a = stream_of(bytes).read_all();
  const std::int16_t c_order[6] = {1, 2, 3, 4, 5, 6};
  BOOST_TEST(a.as<std::int16_t>() == c_order, boost::test_tools::per_element());
  BOOST_TEST(a.fortran_order);

  // From memory, in the order and with the type that are given.
  NpyStream again("load: \"m\"", a);
  BOOST_TEST((!again.is_transposed() && again.shape_in_file() == Shape{2, 3}));
  again.read(to, 12);
  BOOST_TEST(std::equal(c_order, c_order + 6, to));
  BOOST_TEST((NpyStream("load: \"m\"", a).read_all().data == a.data));

  // Without a header; what is there must be enough.
  NpyHeader h = s.header();
  h.big_endian = h.fortran_order = false;
  const Bytes elements = bytes_of(std::string("\1\0\2\0\3\0\4\0\5\0\6\0", 12));
  BOOST_TEST((NpyStream(h, Owned<ByteSource>(new MemorySource("m", elements))).read_all().data == a.data));
  const Bytes short_of = bytes_of("12345678901");
  BOOST_TEST(message_of<ValueError>([&] { NpyStream(h, Owned<ByteSource>(new MemorySource("m", short_of))); }) ==
             "m: data ends after 11 of 12 bytes");

  const Bytes flags = npy_with("{'descr': '|b1', 'fortran_order': False, 'shape': (3,)}", std::string("\0\2\xff", 3));
  NpyStream b = stream_of(flags);
  unsigned char flag[2];
  b.read(flag, 1);
  b.read(flag, 2);
  BOOST_TEST((flag[0] == 1 && flag[1] == 1));
  BOOST_TEST(stream_of(npy_with("{'descr': '|O', 'fortran_order': False, 'shape': ()}", "pickle")).is_none());
  const Bytes objects = npy_with("{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", "pickle");
  BOOST_CHECK_THROW(stream_of(objects), ValueError);
}

BOOST_AUTO_TEST_CASE(bool_bytes_become_0_or_1) {
  const NpyArray a =
      parse(npy_with("{'descr': '|b1', 'fortran_order': False, 'shape': (3,)}", std::string("\0\1\xff", 3)));
  BOOST_TEST((a.data == Bytes{std::byte(0), std::byte(1), std::byte(1)}));
}

BOOST_AUTO_TEST_CASE(text_and_none) {
  for (const std::string text : {"", "log text",
                                 "Gr\xc3\xb6\xc3\x9f"
                                 "e \xe2\x82\xac \xf0\x9f\x98\x80"}) {
    MemorySink sink;
    write_npy_text(sink, text);
    const NpyArray a = parse(sink.bytes());
    BOOST_TEST((a.is_text() && !a.dtype && a.shape.empty()));
    BOOST_TEST(npy_text(a) == text);
  }
  BOOST_TEST(npy_text(parse(
                 npy_with("{'descr': '|S4', 'fortran_order': False, 'shape': ()}", std::string("ab\0\0", 4)))) == "ab");
  BOOST_TEST(npy_text(parse(npy_with("{'descr': '>U2', 'fortran_order': False, 'shape': ()}",
                                     std::string("\0\0\x20\xac\0\0\0\0", 8)))) == "\xe2\x82\xac");
  const NpyArray invalid =
      parse(npy_with("{'descr': '<U1', 'fortran_order': False, 'shape': ()}", std::string("\0\xd8\0\0", 4)));
  BOOST_CHECK_THROW(npy_text(invalid), ValueError);
  BOOST_CHECK_THROW(npy_text(parse(npy_with("{'descr': '<i4', 'fortran_order': False, 'shape': ()}", "abcd"))),
                    TypeError);
  for (const std::string bad :
       {"\xff", "a\xc3", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe0\x80\x80", "\x80"}) {
    MemorySink sink;
    BOOST_CHECK_THROW(write_npy_text(sink, bad), ValueError);
    BOOST_TEST(sink.bytes().empty());
  }
  // NumPy stores None as a pickled object: known by its shape, never looked at.
  BOOST_TEST(parse(npy_with("{'descr': '|O', 'fortran_order': False, 'shape': ()}", "cos\nsystem\n.")).is_none());
  BOOST_TEST(parse_message("{'descr': '|O', 'fortran_order': False, 'shape': (2,)}", "cos\nsystem\n.") ==
             "load: \"a.npy\": holds pickled Python objects of shape (2,), which are never executed");
}

BOOST_AUTO_TEST_CASE(unusual_headers_are_read) {
  const std::string one("\1\0\0\0", 4);
  for (const std::string d : {"{'descr':'<i4','fortran_order':False,'shape':()}",
                              "{\"shape\": (), 'descr': \"<i4\" ,\t'fortran_order' : False,}\n\n",
                              " { u'descr': '=i4', 'fortran_order': False, 'shape': ( ) , } "}) {
    const NpyArray a = parse(npy_with(d, one));
    BOOST_TEST((a.dtype == Dtype::int32 && a.shape.empty() && a.as<std::int32_t>()[0] == 1));
  }
  BOOST_TEST((parse(npy_with("{'descr': '<i4', 'fortran_order': False, 'shape': (1L,)}", one)).shape == Shape{1}));
  const NpyArray complex = parse(npy_with("{'descr': '<c8', 'fortran_order': False, 'shape': ()}", "abcdefgh"));
  BOOST_TEST((complex.dtype == Dtype::complex64 && complex.data == bytes_of("abcdefgh")));
  const NpyArray swapped = parse(npy_with("{'descr': '>c8', 'fortran_order': False, 'shape': ()}", "abcdefgh"));
  BOOST_TEST((swapped.data == bytes_of("dcbahgfe")));
  MemorySource source("load: \"c.npy\"", {});
  BOOST_TEST(message_of<ValueError>([&] { npy_dtype(source, NpyHeader{.descr = "<c32", .dtype = {}, .shape = {}}); }) ==
             "load: \"c.npy\": element type '<c32' is not supported");
  BOOST_CHECK_THROW(complex.as<float>(), TypeError);
}

BOOST_AUTO_TEST_CASE(malformed_headers_are_refused) {
  const std::string at = "load: \"a.npy\": ";
  const auto with_shape = [&](const std::string& s) {
    return parse_message("{'descr': '<i4', 'fortran_order': False, 'shape': " + s + "}");
  };
  const auto with_descr = [&](const std::string& d) {
    return parse_message("{'descr': " + d + ", 'fortran_order': False, 'shape': ()}");
  };
  BOOST_TEST(with_shape("(3)") ==
             at + "header is malformed at byte 52 ()}): expected ',': a tuple of one length needs it");
  BOOST_TEST(with_shape("(-3,)") == at + "shape has the negative length -3");
  BOOST_TEST(with_shape("(99999999999999999999,)") == at + "a length of the shape does not fit 63 bits");
  BOOST_TEST(with_shape("(4294967296, 4294967296)") ==
             at + "shape: (4294967296, 4294967296) has more than 2^63 - 1 elements");
  BOOST_TEST(with_shape("(4611686018427387904,)") ==
             at + "shape (4611686018427387904,) of 4-byte elements does not fit 63 bits");
  BOOST_TEST(with_shape("(1000000000000,)") == at + "data ends after 0 of 4000000000000 bytes");
  BOOST_TEST(with_shape("(" + std::string(33 * 2, '1').replace(0, 66, [] {
               std::string s;
               for (int i = 0; i < 33; ++i) s += "1,";
               return s;
             }()) + ")") == at + "shape has more than 32 axes");
  BOOST_TEST(with_descr("[('a', '<i4')]").starts_with(at + "structured elements are not supported"));
  for (const char* d : {"''", "'<z4'", "'<f4x'", "'<f-4'", "'<U99999999999999999999'", "'|O8'"})
    BOOST_TEST(with_descr(d).ends_with("is no element type"), d << ": " << with_descr(d));
  BOOST_TEST(with_descr("'<U0'") == at + "descr '<U0' has elements of 0 units");
  BOOST_TEST(parse_message("{'descr': '<i4', 'shape': ()}") == at + "header has no key 'fortran_order'");
  BOOST_TEST(parse_message("{'descr': '<i4', 'descr': '<i4'}") ==
             at + "header key 'descr' is repeated or not one of descr, fortran_order, shape");
  BOOST_TEST(parse_message("{'x\x1b': 1}") ==
             at + "header key 'x?' is repeated or not one of descr, fortran_order, shape");
  for (const char* d :
       {"", "x", "{", "{'descr'", "{'descr': '<i4", "{'descr': '<i4', 'fortran_order': Maybe, 'shape': ()}",
        "{'descr': '<i4', 'fortran_order': False, 'shape': ()} x", "{'descr': '<i4' 'shape': ()}"})
    BOOST_TEST(parse_message(d).starts_with(at + "header is malformed at byte "), d << " gave " << parse_message(d));
  BOOST_TEST(message_of<ValueError>([] { parse(bytes_of("hello world")); }) ==
             at + "is no npy data: its first 6 bytes are not npy's magic bytes");
  BOOST_TEST(message_of<ValueError>([] { parse(bytes_of("\x93NUM")); }) ==
             at + "is no npy data: it ends after 4 of 6 magic bytes");
  BOOST_TEST(message_of<ValueError>([] { parse(bytes_of(std::string("\x93NUMPY\4\0\0\0", 10))); }) ==
             at + "npy version 4.0 is not one of 1.0, 2.0, 3.0");
  BOOST_TEST(message_of<ValueError>([] { parse(bytes_of(std::string("\x93NUMPY\2\0\xff\xff\xff\xff", 12))); }) ==
             at + "header of 4294967295 bytes exceeds the limit of 1048576");
  BOOST_TEST(message_of<IOError>([] { FileSource("load", "/nonexistent/a.npy"); }) ==
             "load: \"/nonexistent/a.npy\": cannot open: No such file or directory");
  BOOST_TEST(message_of<IOError>([] { FileSource("load", "/"); }) == "load: \"/\": cannot open: Is a directory");
}

BOOST_AUTO_TEST_CASE(a_file_cut_anywhere_is_refused) {
  MemorySink sink;
  write_npy(sink, Dtype::float32, {2, 3}, Bytes(24));
  const Bytes& whole = sink.bytes();
  for (std::size_t n = 0; n < whole.size(); ++n) {
    const auto cut = std::span(whole).first(n);
    const std::string known = message_of<ValueError>([&] { parse(cut); });
    BOOST_TEST(known.starts_with("load: \"a.npy\": "), known);
    std::istringstream in(std::string(reinterpret_cast<const char*>(cut.data()), n));
    StreamSource stream("load: \"a.npy\"", in);
    BOOST_TEST(message_of<ValueError>([&] { read_npy(stream); }) == known);
  }
  BOOST_TEST(message_of<ValueError>([&] { parse(std::span(whole).first(12)); }) ==
             "load: \"a.npy\": header ends after 12 of 128 bytes");
  BOOST_TEST(message_of<ValueError>([&] { parse(std::span(whole).first(130)); }) ==
             "load: \"a.npy\": data ends after 2 of 24 bytes");
}

// Two thousand damaged files: read, or refused with an error of ours, and never more memory than a small multiple of
// the file.
BOOST_AUTO_TEST_CASE(damaged_files_are_harmless) {
  MemorySink sink;
  write_npy(sink, Dtype::int16, {3, 5}, Bytes(30));
  std::mt19937 random(2024);
  int refused = 0, accepted = 0;
  test::largest_allocation = 0;
  for (int round = 0; round < 2000; ++round) {
    Bytes damaged = sink.bytes();
    for (unsigned k = 0; k <= random() % 3; ++k) damaged[random() % damaged.size()] ^= std::byte(1 << random() % 8);
    try {
      if (round % 2) {
        parse(damaged);
      } else {
        std::istringstream in(std::string(reinterpret_cast<const char*>(damaged.data()), damaged.size()));
        StreamSource stream("load: \"a.npy\"", in);
        read_npy(stream);
      }
      ++accepted;
    } catch (const Error&) {
      ++refused;
    }
  }
  BOOST_TEST(refused > 300);
  BOOST_TEST(accepted > 100);
  // A stream of unknown length is read in steps of 4 MiB.
  BOOST_TEST(test::largest_allocation <= std::size_t(4) << 20);
}

BOOST_AUTO_TEST_SUITE_END()
