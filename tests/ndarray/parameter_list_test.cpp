// The parameter language of user-defined kernels: what a definition means, and what each wrong one is told.
#include <catena/ndarray/user_kernel/parameter_list.h>

#include <catena/tests/support/ndarray_values.h>

namespace {

using nd::KernelParameter;
using nd::parse_parameters;
using test::message_of;

std::string error_of(const std::string& text) {
  return message_of<nd::ValueError>([&] { parse_parameters("mix", text); });
}
bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

BOOST_AUTO_TEST_SUITE(parameter_list)

BOOST_AUTO_TEST_CASE(lists_are_separated_by_commas_and_may_be_empty) {
  BOOST_TEST(parse_parameters("mix", "").empty());
  BOOST_TEST(parse_parameters("mix", " \t\n").empty());
  const auto list = parse_parameters("mix", "  float32 x ,\n T   y,raw\tU z ");
  BOOST_REQUIRE_EQUAL(list.size(), 3u);
  BOOST_TEST(list[0].name == "x");
  BOOST_TEST(list[1].name == "y");
  BOOST_TEST(list[2].name == "z");
  BOOST_TEST(contains(error_of("T x,"), "\"\" is no parameter definition"));
  BOOST_TEST(contains(error_of("T x,,T y"), "mix: \"\" is no parameter definition: it needs a type and a name"));
}

BOOST_AUTO_TEST_CASE(a_definition_is_raw_type_name) {
  const auto list = parse_parameters("mix", "raw float64 table, int8 k", true);
  BOOST_TEST(list[0].raw);
  BOOST_TEST(!list[1].raw);
  BOOST_TEST(list[0].output);
  BOOST_TEST(list[1].output);
  BOOST_TEST(!parse_parameters("mix", "T x")[0].output);
  BOOST_TEST(contains(error_of("x"), "\"x\" is no parameter definition"));
  BOOST_TEST(
      contains(error_of("const T x"), "\"const\" in \"const T x\" is unknown: only raw may stand before the type"));
  BOOST_TEST(contains(error_of("raw raw T x"), "\"raw\""));
  BOOST_TEST(contains(error_of("raw const T x"), "\"const\""));
}

BOOST_AUTO_TEST_CASE(named_types_are_the_canonical_names_of_dtypes) {
  for (const nd::Dtype d : test::kAllDtypes) {
    const auto list = parse_parameters("mix", std::string(nd::name_of(d)) + " x");
    BOOST_TEST((list[0].dtype == d), nd::name_of(d));
  }
  for (const std::string name :
       {"float", "int", "f4", "double", "bool_", "half", "uint", "Float32", "float128", "complex"})
    BOOST_TEST(
        contains(error_of(name + " x"), "mix: the type \"" + name + "\" of x is neither a dtype by its canonical name"),
        name);
}

BOOST_AUTO_TEST_CASE(a_placeholder_is_a_single_letter) {
  for (const std::string letter : {"T", "a", "Z", "i", "n"}) {
    const auto list = parse_parameters("mix", letter + " x");
    BOOST_TEST(!list[0].dtype.has_value());
    BOOST_TEST(list[0].type == letter);
  }
  for (const std::string sign : {"?", "4", "*"}) BOOST_TEST(contains(error_of(sign + " x"), "is no letter"), sign);
}

BOOST_AUTO_TEST_CASE(reserved_names_are_refused) {
  for (const std::string name : {"i", "_ind", "_", "__x", "_n"})
    BOOST_TEST(contains(error_of("T " + name), "mix: the parameter name " + name +
                                                   " is reserved: i is the position of "
                                                   "the element, and names that begin with an underscore belong to"),
               name);
  BOOST_TEST(contains(error_of("T i"), "write another name, such as k"));
  BOOST_TEST(contains(error_of("T _ind"), "write another name, such as a_ind"));
  for (const std::string name : {"1x", "x-y", "x*", "&x"})
    BOOST_TEST(contains(error_of("T " + name), "the parameter name \"" + name + "\" is no identifier"), name);
  BOOST_TEST(contains(error_of("T x, U x"), "there are two parameters named x"));
  BOOST_TEST(parse_parameters("mix", "T ii, T n, T x_")[1].name == "n");
}

BOOST_AUTO_TEST_SUITE_END()
