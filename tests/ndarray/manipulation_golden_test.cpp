// The golden cases of creation, manipulation and joining.
#include <functional>
#include <map>

#include <catena/ndarray/routines/creation.h>
#include <catena/ndarray/routines/indexing.h>
#include <catena/ndarray/routines/joining.h>
#include <catena/ndarray/routines/manipulation.h>
#include <catena/ndarray/routines/padding.h>
#include <catena/tests/support/ndarray_values.h>

namespace {

using nd::Array;
using test::difference;

// ---- creation -----------------------------------------------------------------------------------
nd::Scalar number(const test::Json& j) {
  return j.is_number_integer() ? nd::Scalar(j.get<std::int64_t>()) : nd::Scalar(j.get<double>());
}

std::optional<nd::Dtype> dtype_of(const test::Json& args) {
  if (!args.contains("dtype") || args["dtype"].is_null()) return {};
  return nd::dtype_from_name(args["dtype"].get<std::string>());
}

// Nothing when the case creates nothing.
std::optional<std::vector<Array>> create(const test::Json& c, const std::vector<Array>& in) {
  const std::string f = c["function"];
  const auto& g = c["args"];
  if (f == "arange") {
    const auto& a = g["args"];
    const nd::CreateOptions o{.dtype = dtype_of(g)};
    if (a.size() == 1) return {{nd::arange(number(a[0]), o)}};
    if (a.size() == 2) return {{nd::arange(number(a[0]), number(a[1]), o)}};
    return {{nd::arange(number(a[0]), number(a[1]), number(a[2]), o)}};
  }
  if (f == "linspace") {
    const nd::LinspaceOptions o{.endpoint = g["endpoint"], .dtype = dtype_of(g)};
    const auto [a, step] = nd::linspace_retstep(g["start"], g["stop"], g["num"], o);
    const double expected = c["step"].is_string() ? std::nan("") : c["step"].get<double>();
    BOOST_TEST(test::close(step, expected, 0, 1e-15), c["name"].get<std::string>());
    BOOST_TEST(test::same_bits(a, nd::linspace(g["start"], g["stop"], g["num"], o)));
    return {{a}};
  }
  if (f == "logspace") return {{nd::logspace(g["start"], g["stop"], g["num"], {.base = g["base"]})}};
  if (f == "eye") {
    nd::EyeOptions o{.k = g["k"]};
    if (!g["M"].is_null()) o.M = g["M"].get<std::int64_t>();
    return {{nd::eye(g["N"], o)}};
  }
  if (f == "identity") return {{nd::identity(g["n"], *dtype_of(g))}};
  if (f == "diag") return {{nd::diag(in[0], g["k"])}};
  if (f == "diagflat") return {{nd::diagflat(in[0], g["k"])}};
  if (f == "meshgrid") {
    const std::string indexing = g["indexing"];
    const auto views = nd::meshgrid(in, {.indexing = indexing, .copy = false}),
               copies = nd::meshgrid(in, {.indexing = indexing});
    for (std::size_t i = 0; i < views.size(); ++i) {
      BOOST_TEST(test::same_bits(views[i], copies[i]));
      BOOST_TEST(views[i].shares_memory(in[i]));
      BOOST_TEST(!copies[i].shares_memory(in[i]));
    }
    return copies;
  }
  return {};
}

// ---- joining and splitting ----------------------------------------------------------------------
nd::Sections sections_of(const test::Json& j) {
  if (j.is_array()) return j.get<std::vector<std::int64_t>>();
  return j.get<int>();
}

// Nothing when the case neither joins nor cuts.
std::optional<std::vector<Array>> join_or_split(const test::Json& c, const std::vector<Array>& in) {
  const std::string f = c["function"];
  const auto& args = c["args"];
  if (f == "concatenate") return std::vector{nd::concatenate(in, args["axis"])};
  if (f == "stack") return std::vector{nd::stack(in, args["axis"])};
  if (f == "vstack") return std::vector{nd::vstack(in)};
  if (f == "hstack") return std::vector{nd::hstack(in)};
  if (f == "dstack") return std::vector{nd::dstack(in)};
  if (f == "column_stack") return std::vector{nd::column_stack(in)};
  if (!args.contains("indices_or_sections")) return {};
  const nd::Sections sections = sections_of(args["indices_or_sections"]);
  if (f == "split") return nd::split(in[0], sections, args["axis"]);
  if (f == "array_split") return nd::array_split(in[0], sections, args["axis"]);
  if (f == "vsplit") return nd::vsplit(in[0], sections);
  if (f == "hsplit") return nd::hsplit(in[0], sections);
  if (f == "dsplit") return nd::dsplit(in[0], sections);
  return {};
}

// ---- manipulation -------------------------------------------------------------------------------
std::vector<std::int64_t> ints_of(const test::Json& j) {
  if (j.is_number()) return {j.get<std::int64_t>()};
  return j.get<std::vector<std::int64_t>>();
}
std::optional<int> axis_of(const test::Json& j) { return j.is_null() ? std::optional<int>() : j.get<int>(); }

template <class T> nd::PadSides<T> sides_of(const test::Json& j) {
  const auto value = [](const test::Json& v) { return T(v.get<std::int64_t>()); };
  if (!j.is_array()) return value(j);
  if (!j[0].is_array()) return {value(j[0]), value(j[1])};
  std::vector<std::pair<T, T>> sides;
  for (const auto& p : j) sides.emplace_back(value(p[0]), value(p[1]));
  return sides;
}

using Function = std::function<std::vector<Array>(const test::Json& args, const std::vector<Array>& in)>;

const std::map<std::string, Function>& functions() {
#define ONE(...)                                                                   \
  [](const test::Json& args, const std::vector<Array>& in) -> std::vector<Array> { \
    (void)args;                                                                    \
    return {__VA_ARGS__};                                                          \
  }
  static const std::map<std::string, Function> table = {
      {"reshape", ONE(nd::reshape(in[0], ints_of(args["newshape"])))},
      {"ravel", ONE(nd::ravel(in[0]))},
      {"squeeze", ONE(args["axis"].is_null() ? nd::squeeze(in[0]) : nd::squeeze(in[0], ints_of(args["axis"])))},
      {"expand_dims", ONE(nd::expand_dims(in[0], args["axis"]))},
      {"atleast_1d", ONE(nd::atleast_1d(in[0]))},
      {"atleast_2d", ONE(nd::atleast_2d(in[0]))},
      {"atleast_3d", ONE(nd::atleast_3d(in[0]))},
      {"transpose", ONE(args["axes"].is_null() ? nd::transpose(in[0]) : nd::transpose(in[0], ints_of(args["axes"])))},
      {"swapaxes", ONE(nd::swapaxes(in[0], args["axis1"], args["axis2"]))},
      {"rollaxis", ONE(nd::rollaxis(in[0], args["axis"], args["start"]))},
      {"broadcast_to", ONE(nd::broadcast_to(in[0], ints_of(args["shape"])))},
      {"broadcast_arrays", [](const test::Json&, const std::vector<Array>& in) { return nd::broadcast_arrays(in); }},
      {"tile", ONE(nd::tile(in[0], ints_of(args["reps"])))},
      {"repeat",
       ONE(args["repeats"].is_array() ? nd::repeat(in[0], ints_of(args["repeats"]), axis_of(args["axis"]))
                                      : nd::repeat(in[0], args["repeats"].get<std::int64_t>(), axis_of(args["axis"])))},
      {"flip", ONE(nd::flip(in[0], args["axis"]))},
      {"fliplr", ONE(nd::fliplr(in[0]))},
      {"flipud", ONE(nd::flipud(in[0]))},
      {"roll", ONE(nd::roll(in[0], args["shift"], axis_of(args["axis"])))},
      {"rot90", ONE(nd::rot90(in[0], args["k"], ints_of(args["axes"])))},
      {"pad", ONE(nd::pad(in[0], sides_of<std::int64_t>(args["pad_width"]), args["mode"].get<std::string>(),
                          {.constant_values = sides_of<nd::Scalar>(args["constant_values"])}))},
  };
#undef ONE
  return table;
}

std::optional<std::vector<Array>> run_case(const test::Json& c, const std::vector<Array>& in) {
  if (const auto f = functions().find(c["function"]); f != functions().end()) return f->second(c["args"], in);
  if (const auto joined = join_or_split(c, in)) return joined;
  return create(c, in);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(manipulation_golden)

BOOST_AUTO_TEST_CASE(golden_cases) {
  const auto golden = test::Golden::open("nd_manipulation");
  std::mt19937 random(1);
  golden.for_each([&](const test::Json& c) -> std::string {
    const std::string name = c["name"];
    const std::vector<Array> expected = test::arrays_of(golden, c["outputs"]);
    for (const bool packed : {true, false}) {
      std::vector<Array> in = test::arrays_of(golden, c["inputs"]);
      if (name == "reshape.transposed") in[0] = in[0].T();
      if (!packed)
        for (Array& a : in) a = test::scattered(a, random);
      const auto actual = run_case(c, in);
      if (!actual) return c["function"];
      BOOST_TEST_REQUIRE(actual->size() == expected.size(), name);
      for (std::size_t i = 0; i < expected.size(); ++i)
        CHECK_SAME(difference((*actual)[i], expected[i], c), name << " output " << i << (packed ? "" : " (scattered)"));
    }
    return {};
  });
}

BOOST_AUTO_TEST_SUITE_END()
