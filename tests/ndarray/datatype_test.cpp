// Questions about dtypes and texts of integers. Expected values are those that NumPy gives for the same arguments.
#include <catena/ndarray/routines/datatype.h>

#include <cmath>
#include <limits>

#include <catena/tests/support/ndarray_values.h>

namespace {

using nd::Array;
using nd::Dtype;
using nd::Kind;
using test::message_of;

}  // namespace

BOOST_AUTO_TEST_SUITE(datatype)

BOOST_AUTO_TEST_CASE(common_dtypes) {
  const Array small = nd::zeros(2, nd::int8);
  BOOST_TEST(nd::result_type(nd::int8, nd::uint8) == nd::int16);
  BOOST_TEST(nd::result_type(small, 1) == nd::int8);
  BOOST_TEST(nd::result_type(small, 2.5) == nd::float64);
  BOOST_TEST(nd::result_type(nd::float32, small, 2.5) == nd::float32);
  BOOST_TEST(nd::result_type(1, 2.5) == nd::float64);
  BOOST_TEST(nd::result_type(nd::bool_) == nd::bool_);
  BOOST_CHECK_THROW(nd::result_type(), nd::ValueError);

  const auto of = [](Dtype t) { return nd::zeros(2, t); };
  BOOST_TEST(nd::common_type() == nd::float16);
  BOOST_TEST(nd::common_type(of(nd::float32), of(nd::float16)) == nd::float32);
  BOOST_TEST(nd::common_type(of(nd::int8)) == nd::float64);
  BOOST_TEST(nd::common_type(of(nd::complex64), of(nd::float32)) == nd::complex64);
  BOOST_TEST(nd::common_type(of(nd::complex64), of(nd::int8)) == nd::complex128);
  BOOST_TEST(nd::common_type(of(nd::bfloat16)) == nd::bfloat16);
  BOOST_CHECK_THROW(nd::common_type(of(nd::bool_)), nd::TypeError);

  using D = std::vector<Dtype>;
  BOOST_TEST(nd::find_common_type(D{nd::float32}, D{nd::int64, nd::float64}) == nd::float32);
  BOOST_TEST(nd::find_common_type(D{nd::int8}, D{nd::float32}) == nd::float32);
  BOOST_TEST(nd::find_common_type(D{nd::int64}, D{nd::float16}) == nd::float64);
  BOOST_TEST(nd::find_common_type(D{nd::int8, nd::uint8}, D{}) == nd::int16);
  BOOST_TEST(nd::find_common_type(D{}, D{nd::int64}) == nd::int64);
  BOOST_CHECK_THROW(nd::find_common_type({}, {}), nd::ValueError);
}

BOOST_AUTO_TEST_CASE(smallest_dtypes) {
  const struct {
    nd::Scalar value;
    Dtype dtype;
  } rows[] = {{true, nd::bool_},
              {0, nd::uint8},
              {255, nd::uint8},
              {256, nd::uint16},
              {65536, nd::uint32},
              {std::int64_t(1) << 40, nd::uint64},
              {UINT64_MAX, nd::uint64},
              {-1, nd::int8},
              {-128, nd::int8},
              {-129, nd::int16},
              {-40000, nd::int32},
              {-(std::int64_t(1) << 40), nd::int64},
              {3.1, nd::float16},
              {64999.0, nd::float16},
              {65000.0, nd::float32},
              {-1e5, nd::float32},
              {3.4e38, nd::float64},
              {std::numeric_limits<double>::infinity(), nd::float16},
              {std::nan(""), nd::float16},
              {nd::complex128_t(1, 2), nd::complex64},
              {nd::complex128_t(0, 1e50), nd::complex128}};
  for (const auto& row : rows) {
    BOOST_TEST(nd::min_scalar_type(row.value) == row.dtype, row.value);
    BOOST_TEST(nd::min_scalar_type(nd::array(row.value)) == row.dtype, row.value);
  }
  BOOST_TEST(nd::min_scalar_type(nd::zeros(1, nd::int64)) == nd::int64);
}

BOOST_AUTO_TEST_CASE(limits_of_floats) {
  const auto check = [](const nd::finfo& f, const auto& limits) {
    using L = std::decay_t<decltype(limits)>;
    BOOST_TEST(f.nmant + 1 == L::digits);
    BOOST_TEST(f.maxexp == L::max_exponent);
    BOOST_TEST(f.minexp == L::min_exponent - 1);
    BOOST_TEST(f.precision == L::digits10);
    BOOST_TEST(f.eps == L::epsilon());
    BOOST_TEST(f.max == L::max());
    BOOST_TEST(f.min == L::lowest());
    BOOST_TEST(f.tiny == L::min());
    BOOST_TEST(f.smallest_normal == L::min());
    BOOST_TEST(f.smallest_subnormal == L::denorm_min());
  };
  check(nd::finfo(nd::float32), std::numeric_limits<float>());
  check(nd::finfo(nd::float64), std::numeric_limits<double>());
  check(nd::finfo(nd::complex64), std::numeric_limits<float>());
  BOOST_TEST(nd::finfo(nd::complex64).dtype == nd::float32);
  const nd::finfo half(nd::float16), brain(nd::bfloat16);
  BOOST_TEST(half.max == 65504);
  BOOST_TEST(half.smallest_subnormal == std::ldexp(1, -24));
  BOOST_TEST((half.bits == 16 && half.nexp == 5 && half.iexp == 5 && half.machep == -10 && half.negep == -11));
  BOOST_TEST((half.minexp == -14 && half.maxexp == 16 && half.precision == 3 && half.resolution == 1e-3));
  BOOST_TEST(half.epsneg == std::ldexp(1, -11));
  BOOST_TEST(float(nd::bfloat16_t(float(brain.max))) == float(brain.max));
  BOOST_TEST(std::isinf(float(nd::bfloat16_t(float(brain.max * (1 + brain.eps))))));
  BOOST_TEST((brain.nmant == 7 && brain.nexp == 8 && brain.precision == 2));
  const nd::MachAr m;
  BOOST_TEST((m.ibeta == 2 && m.it == 53 && m.machep == -52 && m.negep == -53 && m.iexp == 11 && m.minexp == -1022));
  BOOST_TEST((m.maxexp == 1024 && m.irnd == 5 && m.ngrd == 0 && m.huge == m.xmax && m.tiny == m.xmin));
  BOOST_CHECK_THROW(nd::finfo{nd::int8}, nd::ValueError);
}

BOOST_AUTO_TEST_CASE(limits_of_integers) {
  const nd::iinfo byte(nd::int8), word(nd::uint16), wide(nd::int64), widest(nd::uint64);
  BOOST_TEST((byte.min == -128 && byte.max == 127u && byte.bits == 8 && byte.kind == 'i'));
  BOOST_TEST((word.min == 0 && word.max == 65535u && word.bits == 16 && word.kind == 'u'));
  BOOST_TEST((wide.min == INT64_MIN && wide.max == std::uint64_t(INT64_MAX)));
  BOOST_TEST((widest.min == 0 && widest.max == UINT64_MAX));
  BOOST_CHECK_THROW(nd::iinfo{nd::bool_}, nd::ValueError);
  BOOST_CHECK_THROW(nd::iinfo{nd::float32}, nd::ValueError);
}

BOOST_AUTO_TEST_CASE(kinds) {
  for (const Dtype t : test::kAllDtypes) {
    const bool integer = catena::is_integer(t), floating = catena::is_floating(t);
    BOOST_TEST(nd::issubdtype(t, Kind::generic));
    BOOST_TEST(nd::issubdtype(t, Kind::number) == (integer || floating));
    BOOST_TEST(nd::issubdtype(t, Kind::integer) == integer);
    BOOST_TEST(nd::issubdtype(t, Kind::inexact) == floating);
    BOOST_TEST(nd::issubdtype(t, Kind::floating) == floating);
    BOOST_TEST(nd::issubdtype(t, Kind::boolean) == (t == nd::bool_));
    BOOST_TEST(nd::issctype(t));
    BOOST_TEST(nd::obj2sctype(nd::zeros(1, t)) == t);
    BOOST_TEST(nd::dtype_from_name(std::string(1, nd::sctype2char(t))) == t);
  }
  BOOST_TEST(nd::issubdtype(nd::uint8, Kind::unsignedinteger));
  BOOST_TEST(!nd::issubdtype(nd::uint8, Kind::signedinteger));
  BOOST_TEST(nd::issubdtype(nd::complex64, Kind::complexfloating));
  BOOST_TEST(nd::issubdtype(Kind::signedinteger, Kind::integer));
  BOOST_TEST(!nd::issubdtype(Kind::integer, Kind::signedinteger));
  BOOST_TEST(nd::issubdtype(nd::int8, nd::int8));
  BOOST_TEST(!nd::issubdtype(nd::int8, nd::int16));
  BOOST_TEST(nd::issubclass_(Kind::floating, Kind::inexact));
  BOOST_TEST(nd::issubsctype("half", Kind::floating));
  BOOST_TEST(nd::issubsctype(nd::zeros(1, nd::int8), nd::int8));
  BOOST_TEST(nd::obj2sctype(2.5f) == nd::float32);
  BOOST_CHECK_THROW(nd::obj2sctype("string"), nd::TypeError);
  BOOST_TEST(nd::issctype("half"));
  BOOST_TEST(!nd::issctype("string"));
  BOOST_TEST(!nd::issctype("object"));
  BOOST_TEST(!nd::issctype(3));
  BOOST_TEST((nd::isscalar(3) && nd::isscalar(2.5) && nd::isscalar(true) && nd::isscalar(nd::Scalar(1))));
  BOOST_TEST((!nd::isscalar(nd::array(3)) && !nd::isscalar("3")));
  BOOST_TEST(nd::type_name('f') == "single precision");
  BOOST_TEST(nd::type_name('Q') == "unsigned long long integer");
  BOOST_CHECK_THROW(nd::type_name('x'), nd::KeyError);
  BOOST_TEST(nd::mintypecode("df") == 'd');
  BOOST_TEST(nd::mintypecode("Fd") == 'D');
  BOOST_TEST(nd::mintypecode("fF") == 'F');
  BOOST_TEST(nd::mintypecode("f") == 'f');
  BOOST_TEST(nd::mintypecode("bhi") == 'd');
  BOOST_TEST(nd::mintypecode("bhi", "GDFgdf", 'f') == 'f');
}

BOOST_AUTO_TEST_CASE(fields) {
  const nd::format_parser packed("i1, f8,<u2", {"a", "b"}, {"first"}), aligned("i1,f8,u2", {}, {}, true);
  BOOST_REQUIRE_EQUAL(packed.fields.size(), 3u);
  BOOST_TEST((packed.fields[0].dtype == nd::int8 && packed.fields[1].dtype == nd::float64 &&
              packed.fields[2].dtype == nd::uint16));
  BOOST_TEST((packed.fields[0].name == "a" && packed.fields[2].name == "f2" && packed.fields[0].title == "first"));
  BOOST_TEST((packed.fields[1].offset == 1u && packed.fields[2].offset == 9u && packed.itemsize == 11u));
  struct Aligned {
    std::int8_t a;
    double b;
    std::uint16_t c;
  };
  BOOST_TEST((aligned.fields[1].offset == offsetof(Aligned, b) && aligned.fields[2].offset == offsetof(Aligned, c)));
  BOOST_TEST(aligned.itemsize == sizeof(Aligned));
  BOOST_CHECK_THROW(nd::format_parser("i1,U5"), nd::TypeError);
  BOOST_CHECK_THROW(nd::format_parser("i1,i1", {"a", "a"}), nd::ValueError);
}

BOOST_AUTO_TEST_CASE(texts) {
  BOOST_TEST(nd::binary_repr(3) == "11");
  BOOST_TEST(nd::binary_repr(-3) == "-11");
  BOOST_TEST(nd::binary_repr(3, 5) == "00011");
  BOOST_TEST(nd::binary_repr(-3, 5) == "11101");
  BOOST_TEST(nd::binary_repr(-8, 4) == "1000");
  BOOST_TEST(nd::binary_repr(0) == "0");
  BOOST_TEST(nd::binary_repr(0, 4) == "0000");
  BOOST_TEST(nd::binary_repr(INT64_MIN) == "-1" + std::string(63, '0'));
  BOOST_TEST(nd::binary_repr(-1, 70) == std::string(70, '1'));
  BOOST_TEST(message_of<nd::ValueError>([] { nd::binary_repr(-9, 4); }) ==
             "binary_repr: a width of 4 bits is not enough for -9, which needs 5");
  BOOST_CHECK_THROW(nd::binary_repr(9, 3), nd::ValueError);
  BOOST_TEST(nd::base_repr(5) == "101");
  BOOST_TEST(nd::base_repr(6, 5) == "11");
  BOOST_TEST(nd::base_repr(7, 5, 3) == "00012");
  BOOST_TEST(nd::base_repr(-10, 16) == "-A");
  BOOST_TEST(nd::base_repr(0) == "0");
  BOOST_TEST(nd::base_repr(0, 2, 3) == "000");
  BOOST_TEST(nd::base_repr(-5, 2, 2) == "-00101");
  BOOST_TEST(nd::base_repr(35, 36) == "Z");
  BOOST_CHECK_THROW(nd::base_repr(5, 37), nd::ValueError);
  BOOST_CHECK_THROW(nd::base_repr(5, 1), nd::ValueError);
}

BOOST_AUTO_TEST_SUITE_END()
