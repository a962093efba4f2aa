#include <boost/test/unit_test.hpp>

#include <catena/kernels/base/dtype.h>

#include <sstream>
#include <string>

#include <catena/kernels/base/error.h>
#include <catena/tests/support/golden.h>

using namespace catena;

namespace {

template <class E, class F> std::string message_of(F&& f) {
  try {
    f();
  } catch (const E& e) {
    return e.what();
  }
  return "(nothing was thrown)";
}

constexpr Dtype kAll[] = {Dtype::bool_,   Dtype::int8,    Dtype::uint8,   Dtype::int16,  Dtype::uint16,
                          Dtype::int32,   Dtype::uint32,  Dtype::int64,   Dtype::uint64, Dtype::float16,
                          Dtype::float32, Dtype::float64, Dtype::bfloat16};

}  // namespace

BOOST_AUTO_TEST_SUITE(dtype)

BOOST_AUTO_TEST_CASE(promotion_is_numpys) {
  const auto golden = test::Golden::open("nd_promotion");
  const auto& rows = golden.cases()["promote_types"];
  BOOST_TEST(rows.size() == 144u);
  for (const auto& r : rows) {
    const auto a = dtype_from_name(r[0].get<std::string>()), b = dtype_from_name(r[1].get<std::string>());
    BOOST_TEST(name_of(promote_types(a, b)) == r[2].get<std::string>(), r.dump());
  }
}

BOOST_AUTO_TEST_CASE(casting_rules_are_numpys) {
  const auto golden = test::Golden::open("nd_promotion");
  const auto& rows = golden.cases()["can_cast"];
  BOOST_TEST(rows.size() == 720u);
  for (const auto& r : rows) {
    const auto from = dtype_from_name(r[0].get<std::string>()), to = dtype_from_name(r[1].get<std::string>());
    int rule = 0;
    while (rule < 4 && name_of(static_cast<Casting>(rule)) != r[2].get<std::string>()) ++rule;
    BOOST_TEST_REQUIRE(name_of(static_cast<Casting>(rule)) == r[2].get<std::string>());
    BOOST_TEST(can_cast(from, to, static_cast<Casting>(rule)) == r[3].get<bool>(), r.dump());
  }
}

BOOST_AUTO_TEST_CASE(bfloat16_promotes_by_its_width) {
  const std::pair<Dtype, Dtype> expected[] = {
      {Dtype::bool_, Dtype::bfloat16},   {Dtype::int8, Dtype::bfloat16},   {Dtype::uint8, Dtype::bfloat16},
      {Dtype::int16, Dtype::float32},    {Dtype::uint16, Dtype::float32},  {Dtype::int32, Dtype::float64},
      {Dtype::uint32, Dtype::float64},   {Dtype::int64, Dtype::float64},   {Dtype::uint64, Dtype::float64},
      {Dtype::float16, Dtype::float32},  {Dtype::float32, Dtype::float32}, {Dtype::float64, Dtype::float64},
      {Dtype::bfloat16, Dtype::bfloat16}};
  for (const auto& [other, result] : expected) {
    BOOST_TEST(promote_types(Dtype::bfloat16, other) == result);
    BOOST_TEST(promote_types(other, Dtype::bfloat16) == result);
  }
  BOOST_TEST(!can_cast(Dtype::float16, Dtype::bfloat16));
  BOOST_TEST(can_cast(Dtype::float16, Dtype::bfloat16, Casting::same_kind));
  BOOST_TEST(can_cast(Dtype::bfloat16, Dtype::float32));
  BOOST_TEST(!can_cast(Dtype::bfloat16, Dtype::int64, Casting::same_kind));
}

// With three types the order of promotion may matter only where a signed and an unsigned or a 16-bit float take part,
// but the result of two is symmetric, not below either, and a type with itself is itself.
BOOST_AUTO_TEST_CASE(promotion_is_a_join) {
  for (Dtype a : kAll) {
    BOOST_TEST(promote_types(a, a) == a);
    for (Dtype b : kAll) {
      const Dtype c = promote_types(a, b);
      BOOST_TEST(c == promote_types(b, a));
      BOOST_TEST(promote_types(a, c) == c);
      BOOST_TEST(can_cast(a, c));
      BOOST_TEST(can_cast(b, c));
    }
  }
}

BOOST_AUTO_TEST_CASE(names_characters_and_aliases) {
  for (Dtype t : kAll) {
    BOOST_TEST(dtype_from_name(name_of(t)) == t);
    BOOST_TEST(dtype_from_name(std::string(1, char_of(t))) == t);
    BOOST_TEST(dtype_from_char(char_of(t)) == t);
  }
  const std::pair<const char*, Dtype> aliases[] = {{"bool_", Dtype::bool_},
                                                   {"byte", Dtype::int8},
                                                   {"ubyte", Dtype::uint8},
                                                   {"short", Dtype::int16},
                                                   {"ushort", Dtype::uint16},
                                                   {"intc", Dtype::int32},
                                                   {"uintc", Dtype::uint32},
                                                   {"int_", Dtype::int64},
                                                   {"longlong", Dtype::int64},
                                                   {"uint", Dtype::uint64},
                                                   {"ulonglong", Dtype::uint64},
                                                   {"half", Dtype::float16},
                                                   {"single", Dtype::float32},
                                                   {"float_", Dtype::float64},
                                                   {"longfloat", Dtype::float64},
                                                   {"double", Dtype::float64},
                                                   {"q", Dtype::int64},
                                                   {"Q", Dtype::uint64},
                                                   {"F", Dtype::complex64},
                                                   {"D", Dtype::complex128},
                                                   {"complex", Dtype::complex128},
                                                   {"complex_", Dtype::complex128},
                                                   {"cfloat", Dtype::complex128},
                                                   {"cdouble", Dtype::complex128},
                                                   {"csingle", Dtype::complex64},
                                                   {"singlecomplex", Dtype::complex64}};
  for (const auto& [name, t] : aliases) BOOST_TEST(dtype_from_name(name) == t, name);
  std::ostringstream out;
  out << Dtype::bool_ << ' ' << Dtype::uint16 << ' ' << Dtype::bfloat16;
  BOOST_TEST(out.str() == "bool uint16 bfloat16");
}

BOOST_AUTO_TEST_CASE(unknown_names_say_so) {
  BOOST_TEST(message_of<TypeError>([] { dtype_from_name("float65"); }) == "dtype: \"float65\" names no element type");
  BOOST_TEST(message_of<TypeError>([] { dtype_from_name(""); }) == "dtype: \"\" names no element type");
  BOOST_TEST(message_of<TypeError>([] { dtype_from_name("x"); }) == "dtype: \"x\" names no element type");
  BOOST_TEST(message_of<TypeError>([] { dtype_from_name("complex256"); }) ==
             "dtype: \"complex256\" names no element type");
  for (const char* name : {"object", "O", "str", "U", "bytes", "S", "void", "V", "datetime64", "M", "timedelta64", "m"})
    BOOST_CHECK_THROW(dtype_from_name(name), ValueError);
  BOOST_TEST(message_of<ValueError>([] { dtype_from_name("object"); }) ==
             "dtype: \"object\" is supported by NumPy alone; elements are bools, integers, floats and complex numbers");
  BOOST_TEST(message_of<TypeError>([] { visit_real_dtype("sort", Dtype::complex128, [](auto) {}); }) ==
             "sort: complex128 numbers are not ordered");
  BOOST_TEST(message_of<TypeError>([] { visit_dtype(static_cast<Dtype>(99), [](auto) {}); }) ==
             "dtype: value 99 is no element type");
}

BOOST_AUTO_TEST_CASE(element_types_agree_with_the_table) {
  for (Dtype t : kAll) {
    visit_dtype(t, [&](auto tag) {
      using T = typename decltype(tag)::type;
      BOOST_TEST(sizeof(T) == itemsize(t));
      BOOST_TEST(dtype_of<T> == t);
      BOOST_TEST((is_same<typename element_type<dtype_of<T>>::type, T>));
    });
  }
  BOOST_TEST(dtype_of<long long> == Dtype::int64);
  BOOST_TEST(std::string(1, kind_char(Dtype::uint8)) + kind_char(Dtype::bool_) + kind_char(Dtype::int8) +
                 kind_char(Dtype::bfloat16) ==
             "ubif");
}

BOOST_AUTO_TEST_SUITE_END()
