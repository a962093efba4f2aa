// Functions and reductions made from loop strings and text, against loops on the host.
#include <catena/ndarray/user_kernel/create_ufunc.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include <catena/ndarray/cpu/host_compiler.h>
#include <catena/ndarray/routines/manipulation.h>
#include <catena/ndarray/routines/math.h>
#include <catena/ndarray/routines/reduction.h>
#include <catena/tests/support/cuda_device/control.h>
#include <catena/tests/support/ndarray_values.h>

namespace {

using nd::Array;
using nd::Dtype;
using nd::Operand;
using test::check_values;
using test::contains;
using test::difference;
using test::message_of;

const nd::ufunc& squared_diff() {
  static const nd::ufunc f = nd::create_ufunc("my_squared_diff", {"bb->b", "ii->i", "ee->e", "EE->E", "ff->f", "dd->d"},
                                              "out0 = (in0 - in1) * (in0 - in1)", "", "the square of a difference");
  return f;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(create_ufunc)

BOOST_AUTO_TEST_CASE(is_a_ufunc) {
  const nd::ufunc f = squared_diff();
  BOOST_TEST(f.name() == "my_squared_diff");
  BOOST_TEST(f.doc() == "the square of a difference");
  BOOST_TEST(f.nin() == 2);
  BOOST_TEST(f.nout() == 1);
  BOOST_TEST(f.nargs() == 3);
  BOOST_TEST(f.types() == (std::vector<std::string>{"bb->b", "ii->i", "ee->e", "EE->E", "ff->f", "dd->d"}));
  BOOST_TEST(f.to_string() == "<ufunc 'my_squared_diff'>");
  BOOST_TEST(nd::ufunc("add").doc() == "");
  // The name does not make it the registered kernel, which has loops for 16-bit floats.
  const nd::ufunc other = nd::create_ufunc("nextafter", {"ff->f"}, "out0 = in0 + 2 * in1");
  const Array x = nd::array({1.f, 2.f});
  check_values<float>(other(x, x), {3, 6});
  BOOST_TEST(other.types().size() == 1u);
}

// A loop that has the dtypes, else the first one that holds them.
BOOST_AUTO_TEST_CASE(every_pair_of_dtypes_has_its_loop) {
  const std::vector<Dtype> loops = {nd::int8, nd::int32, nd::float16, nd::bfloat16, nd::float32, nd::float64};
  const auto expected = [&](Dtype a, Dtype b) {
    if (a == b && std::find(loops.begin(), loops.end(), a) != loops.end()) return a;
    if (nd::promote_types(a, b) == nd::bfloat16) return nd::bfloat16;
    return *std::find_if(loops.begin(), loops.end(), [&](Dtype t) { return nd::can_cast(a, t) && nd::can_cast(b, t); });
  };
  for (const Dtype a : test::kAllDtypes)
    for (const Dtype b : test::kAllDtypes) {
      const Dtype loop = squared_diff()(nd::zeros({0}, a), nd::zeros({0}, b)).dtype();
      BOOST_TEST((loop == expected(a, b)), a << " and " << b << ": " << loop);
    }
  for (const Dtype a : {nd::bool_, nd::uint8, nd::uint64, nd::float16, nd::bfloat16})
    for (const Dtype b : {nd::int8, nd::float16, nd::float32}) {
      const Array x = nd::array({0, 1, 1, 0}).astype(a), y = nd::array({3, 1, 0, 0}).astype(b);
      check_values<int>(squared_diff()(x, y).astype(nd::int32), {9, 0, 1, 0});
    }
}

BOOST_AUTO_TEST_CASE(arrays_and_scalars_of_any_layout) {
  std::mt19937 random(1);
  const Array x = test::random_array({7, 5, 3}, nd::float32, random),
              y = test::random_array({5, 1}, nd::float32, random);
  const Array expected = nd::square(x - y);
  CHECK_SAME(difference(squared_diff()(x, y), expected), "broadcast");
  CHECK_SAME(difference(squared_diff()(test::scattered(x, random), test::scattered(y, random)), expected), "scattered");
  CHECK_SAME(difference(squared_diff()(x, 2), nd::square(x - 2)), "int scalar");
  CHECK_SAME(difference(squared_diff()(0.5, x), nd::square(0.5 - x)), "float scalar");
  BOOST_TEST((squared_diff()(nd::array({1, 2}, nd::int8), 3).dtype() == nd::int8));  // scalars are weak
  const Array zero = squared_diff()(2, 5);
  BOOST_TEST(zero.ndim() == 0);
  BOOST_TEST(zero.item<double>() == 9);
  BOOST_TEST(squared_diff()(nd::zeros({0, 3}), 1).shape() == (nd::Shape{0, 3}));
  check_values<float>(squared_diff()(nd::array({4.f}), 1), {9});
}

BOOST_AUTO_TEST_CASE(outputs_dtype_and_casting) {
  const Array x = nd::array({1.5f, -2.f, 300.f}), z = nd::empty({3}, nd::float64);
  BOOST_TEST(squared_diff()(x, 1, {.out = z}).get() == z.get());
  check_values<double>(z, {0.25, 9, 89401});
  BOOST_TEST(squared_diff()(x, 1, z).get() == z.get());  // the output by position
  const Array narrow = nd::empty({3}, nd::float16);
  squared_diff()(x, 1, {.out = narrow});
  check_values<float>(narrow, {0.25, 9, std::numeric_limits<float>::infinity()});
  const Array wide = squared_diff()(x, 1, {.dtype = nd::float64});
  BOOST_TEST((wide.dtype() == nd::float64));
  // The elements are converted to the loop's type, by the library's rules: truncated and saturated.
  const Array bytes =
      squared_diff()(nd::array({1.9, 3e4, std::nan("")}), 1, {.dtype = nd::int32, .casting = nd::Casting::unsafe});
  BOOST_TEST((bytes.dtype() == nd::int32));
  BOOST_TEST(bytes(0).item<int>() == 0);
  BOOST_TEST(bytes(1).item<int>() == 29999 * 29999);
  BOOST_TEST(bytes(2).item<int>() == 1);
  const Array whole = nd::empty({3}, nd::int32);
  BOOST_TEST(message_of<nd::TypeError>([&] { squared_diff()(x, 1, {.out = whole}); }) ==
             "my_squared_diff: cannot cast the result from float32 to int32 under casting 'same_kind'");
  squared_diff()(nd::array({1.75, 4., 1e6}), 0, {.out = whole, .casting = nd::Casting::unsafe});
  check_values<int>(whole, {3, 16, std::numeric_limits<int>::max()});
  BOOST_TEST(message_of<nd::ValueError>([&] { squared_diff()(x, 1, {.out = nd::empty({4}, nd::float32)}); }) ==
             "my_squared_diff: the output has shape (4,), the operands broadcast to (3,)");
  BOOST_TEST(message_of<nd::TypeError>([&] { squared_diff()(x, 1, {.dtype = nd::uint8}); }) ==
             "my_squared_diff: no loop with the output dtype uint8");
  BOOST_TEST(contains(message_of<nd::TypeError>([&] { squared_diff()(x); }), "takes 2 inputs, 1 were given"));
  BOOST_TEST(contains(message_of<nd::TypeError>([&] { squared_diff().call({x, x, x, x}); }), "4 were given"));
}

BOOST_AUTO_TEST_CASE(an_output_may_overlap_the_inputs) {
  const Array line = nd::arange(10, {.dtype = nd::float32}), expected = nd::square(line(nd::Slice(0, 9)) - 3).copy();
  const Array behind = line(nd::Slice(1, {}));
  squared_diff()(line(nd::Slice(0, 9)), 3, {.out = behind});
  CHECK_SAME(difference(behind, expected), "shifted");
  const Array same = nd::array({5.f, 6.f});
  squared_diff()(same, 4, {.out = same});
  check_values<float>(same, {1, 4});
}

BOOST_AUTO_TEST_CASE(loops_with_texts_of_their_own_and_several_outputs) {
  // in<k>_type and out<k>_type name the loop's types; the preamble stands before.
  const nd::ufunc f =
      nd::create_ufunc("quotient_and_rest", {{"ll->ll", "out0 = in0 / in1; out1 = in0 % in1"}, "dd->dd"},
                       "out0 = floor_of(in0 / in1); out1 = in0 - out0 * in1;",
                       "template <class T> __device__ T floor_of(T x) { return floor(x); }");
  BOOST_TEST(f.nout() == 2);
  const std::vector<Array> whole = f.call({nd::array({7, 9}), nd::array({2, 4})});
  check_values<std::int64_t>(whole[0], {3, 2});
  check_values<std::int64_t>(whole[1], {1, 1});
  const std::vector<Array> parts = f.call({nd::array({7.5, -1.0}), 2});
  check_values<double>(parts[0], {3, -1});
  check_values<double>(parts[1], {1.5, 1});
  const Array q = nd::empty({2}), r = nd::empty({2});
  f.call({nd::array({7.5, -1.0}), 2, q, r});
  check_values<double>(r, {1.5, 1});
  BOOST_TEST(message_of<nd::TypeError>([&] { f(q, r); }) == "quotient_and_rest: has 2 outputs; use call");
  BOOST_TEST(contains(message_of<nd::ValueError>([&] { f.call({q, r, q, q}); }), "outputs 0 and 1 share memory"));

  const nd::ufunc types = nd::create_ufunc("bytes_of_types", {"bf->i"},
                                           "out0 = 100 * sizeof(in0_type) + 10 * sizeof(in1_type) + sizeof(out0_type)");
  check_values<int>(types(nd::array({1}, nd::int8), nd::array({1}, nd::int16)), {144});
}

// An output that the text leaves alone keeps its value.
BOOST_AUTO_TEST_CASE(a_text_may_leave_its_output) {
  const nd::ufunc f = nd::create_ufunc("set_where_positive", {"f->f"}, "if (in0 > 0) out0 = in0;");
  for (const Dtype dtype : {nd::float32, nd::float64}) {
    const Array out = nd::full({3}, 7, {.dtype = dtype});
    f(nd::array({1.f, -1.f, 2.f}), {.out = out});
    check_values<double>(out.astype(nd::float64), {1, 7, 2});
  }
}

BOOST_AUTO_TEST_CASE(complex_loops) {
  const nd::ufunc f = nd::create_ufunc("times_i", {"f->F", "D->D"}, "out0 = out0_type(0, 1) * out0_type(in0)");
  const Array y = f(nd::array({2.f, 3.f}));
  BOOST_TEST((y.dtype() == nd::complex64));
  check_values<float>(nd::imag(y).copy(), {2, 3});
  BOOST_TEST((f(nd::array({2})).dtype() == nd::complex128));
}

// Functions of one name are one object only if nothing of their definitions differs.
BOOST_AUTO_TEST_CASE(definitions_that_differ_in_one_text) {
  using Ops = std::vector<nd::UfuncOp>;
  const auto value = [](const Ops& ops, const char* text, const char* preamble = "", const char* doc = "") {
    return nd::create_ufunc("one_name", ops, text, preamble, doc)(nd::array({3.f})).item<float>();
  };
  BOOST_TEST(value({"f->f"}, "out0 = in0 + 1") == 4);
  BOOST_TEST(value({"f->f"}, "out0 = in0 + 2") == 5);
  BOOST_TEST(value({"f->f"}, "out0 = scaled(in0)", "__device__ float scaled(float x) { return x / 2; }") == 1.5);
  BOOST_TEST(value({"f->f"}, "out0 = scaled(in0)", "__device__ float scaled(float x) { return x * 2; }") == 6);
  BOOST_TEST(value({{"f->f", "out0 = in0 * 10"}}, "") == 30);
  BOOST_TEST(value({{"f->f", "out0 = in0 * 20"}}, "") == 60);
  // A text of the loop's own goes before the common one.
  BOOST_TEST(value({{"f->f", "out0 = -in0"}, "d->d"}, "out0 = in0 + 1") == -3);
  BOOST_TEST(value({{"d->d", "out0 = -in0"}, "f->f"}, "out0 = in0 + 1") == 4);
  for (const char* doc : {"a text", "another text"})
    BOOST_TEST(nd::create_ufunc("one_name", {"f->f"}, "out0 = in0", "", doc).doc() == doc);
}

BOOST_AUTO_TEST_CASE(the_first_loop_of_the_dtypes) {
  const Array x = nd::array({1.f}), y = nd::array({2.0});
  const nd::ufunc f = nd::create_ufunc("mixed", {"fd->i", "ff->h", "dd->d", "dd->l"}, "out0 = in0 + in1");
  BOOST_TEST((f(x, x).dtype() == nd::int16));  // and not the first one that begins with f
  BOOST_TEST((f(x, y).dtype() == nd::int32));
  BOOST_TEST((f(y, y).dtype() == nd::float64));
}

BOOST_AUTO_TEST_CASE(definition_errors) {
  const auto message = [](std::string_view name, const std::vector<nd::UfuncOp>& ops,
                          std::string_view text = "out0 = in0") {
    return message_of<nd::ValueError>([&] { nd::create_ufunc(name, ops, text); });
  };
  BOOST_TEST(message("two words", {"f->f"}) == "create_ufunc: the name \"two words\" is no identifier");
  BOOST_TEST(message("f", {}) == "f: there are 0 loops; there must be 1 to 254");
  BOOST_TEST(message("f", {"ff"}) == "f: \"ff\" is no loop; write it as \"ff->f\"");
  BOOST_TEST(message("f", {"fx->f"}) == "f: the loop \"fx->f\" has the unknown character 'x'");
  BOOST_TEST(message("f", {"->f"}) == "f: the loop \"->f\" must have inputs and outputs");
  BOOST_TEST(message("f", {"f->f", "dd->d"}) == "f: the loop \"dd->d\" has another number of operands than \"f->f\"");
  BOOST_TEST(message("f", {"f->f"}, "") == "f: the loop \"f->f\" has no text, and the function has none");
  BOOST_TEST(contains(message("f", {"fffffffff->f"}), "more than 8 inputs"));
  const nd::ufunc wrong = nd::create_ufunc("wrong_text", {"f->f"}, "out0 = undefined_name");
  BOOST_TEST(contains(message_of<nd::CompileError>([&] { wrong(nd::array({1.f})); }), "ufunc wrong_text"));
  BOOST_TEST(wrong(nd::zeros({0}, nd::float32)).size() == 0);  // nothing is compiled
  // No loop holds what it is given.
  const nd::ufunc narrow = nd::create_ufunc("narrow", {"f->f"}, "out0 = in0");
  BOOST_TEST(message_of<nd::TypeError>([&] { narrow(nd::array({1.0})); }) == "narrow: no loop for (float64,)");
}

// ---- reductions ---------------------------------------------------------------------------------
BOOST_AUTO_TEST_CASE(a_reduction_over_any_axes) {
  const auto f =
      nd::create_reduction_func("my_sum_of_squares", {"l->l", {"e->e", {.reduce_type = "float"}}, "f->f", "d->d"},
                                {"in0 * in0", "a + b", "out0 = a"}, 0);
  BOOST_TEST(f.name() == "my_sum_of_squares");
  BOOST_TEST(f.nin() == 1);
  BOOST_TEST(f.nout() == 1);
  BOOST_TEST(f.types() == (std::vector<std::string>{"l->l", "e->e", "f->f", "d->d"}));
  const Array x = nd::arange(24).reshape(2, 3, 4) - 5;
  const auto expected = [&](const nd::Axes& axes, bool keepdims) {
    return nd::sum(nd::square(x), {.axis = axes, .keepdims = keepdims});
  };
  CHECK_SAME(difference(f(x), expected({}, false)), "all");
  for (const bool keepdims : {false, true}) {
    CHECK_SAME(difference(f(x, {.axis = 1, .keepdims = keepdims}), expected(1, keepdims)), "axis 1");
    CHECK_SAME(difference(f(x, {.axis = {0, 2}, .keepdims = keepdims}), expected({0, 2}, keepdims)), "axes 0, 2");
  }
  CHECK_SAME(difference(f(x, -1), expected(-1, false)), "by position");
  std::mt19937 random(3);
  CHECK_SAME(difference(f(test::scattered(x, random), 0), expected(0, false)), "scattered");
  // int32 elements take the loop "l->l"; dtype chooses by the output.
  BOOST_TEST((f(x.astype(nd::int32)).dtype() == nd::int64));
  BOOST_TEST((f(x, {.dtype = nd::float32}).dtype() == nd::float32));
  BOOST_TEST((f(x, 1, nd::float32).dtype() == nd::float32));
  // A sum of 16-bit floats in float: 1 + 2048 ones would stay at 2048.
  BOOST_TEST(f(nd::ones({4096}, nd::float16)).item<float>() == 4096);
  // The identity of nothing, and an output of another dtype.
  BOOST_TEST(f(nd::zeros({0})).item<double>() == 0);
  check_values<std::int64_t>(f(nd::zeros({2, 0}, nd::int64), 1), {0, 0});
  const Array out = nd::empty({4}, nd::float64), same = nd::empty({4}, nd::int64);
  BOOST_TEST(f(x, {.axis = {0, 1}, .out = out}).get() == out.get());
  CHECK_SAME(difference(out, expected({0, 1}, false).astype(nd::float64)), "out");
  BOOST_TEST(f(x, {.axis = {0, 1}, .out = same}).get() == same.get());
  CHECK_SAME(difference(same, expected({0, 1}, false)), "out of the result's dtype");
}

BOOST_AUTO_TEST_CASE(a_reduction_with_types_and_a_structure) {
  // type_in0_raw is the type of the array's elements, type_out0_raw that of the output.
  // The structure has padding, which a copy of it reads.
  const auto spread =
      nd::create_reduction_func("spread", {"h->i", "d->d"},
                                {"Range(in0)", "joined(a, b)", "out0 = type_out0_raw(a.high) - a.low", "Range"}, {}, R"(
struct Range {
  type_in0_raw low, high;
  bool any;
  __device__ Range() : low(0), high(0), any(false) {}
  __device__ Range(type_in0_raw v) : low(v), high(v), any(true) {}
};
__device__ Range joined(Range a, Range b) {
  if (!a.any || !b.any) return a.any ? a : b;
  if (b.low < a.low) a.low = b.low;
  if (b.high > a.high) a.high = b.high;
  return a;
})");
  const Array x = nd::array({{3, -20000, 7}, {30000, 5, 5}}, nd::int16);
  const Array y = spread(x, 1);
  BOOST_TEST((y.dtype() == nd::int32));
  check_values<int>(y, {20007, 29995});
  BOOST_TEST(spread(nd::array({1.5, -2.5})).item<double>() == 4);
  BOOST_TEST(message_of<nd::ValueError>([&] { spread(nd::zeros({0})); }) ==
             "reduction spread: shape (0,) has no elements along axes (0,), and the kernel has no identity");
  // A number or a text is an identity.
  for (const nd::ReductionIdentity& identity : {nd::ReductionIdentity(-1e300), nd::ReductionIdentity("-1e300")}) {
    const auto top = nd::create_reduction_func("top", {"d->d"}, {"in0", "a > b ? a : b", "out0 = a"}, identity);
    BOOST_TEST(top(nd::array({-5.0, -3.0})).item<double>() == -3);
    BOOST_TEST(top(nd::zeros({0})).item<double>() == -1e300);
  }
  const auto low = nd::create_reduction_func("low", {"d->d"}, {"in0", "a < b ? a : b", "out0 = a"},
                                             std::numeric_limits<double>::infinity());
  BOOST_TEST(low(nd::array({-5.0, -3.0})).item<double>() == -5);
  BOOST_TEST(std::isinf(low(nd::zeros({0})).item<double>()));
}

BOOST_AUTO_TEST_CASE(reductions_that_differ_in_one_text) {
  using Ops = std::vector<nd::ReductionOp>;
  const Array x = nd::array({1.0, 2.0, 4.0});
  const auto value = [&](const Ops& ops, const nd::ReductionRoutine& routine, const char* preamble = "") {
    return nd::create_reduction_func("one_reduction", ops, routine, 0, preamble)(x).item<double>();
  };
  BOOST_TEST(value({"d->d"}, {"in0", "a + b", "out0 = a"}) == 7);
  BOOST_TEST(value({"d->d"}, {"in0 * in0", "a + b", "out0 = a"}) == 21);
  BOOST_TEST(value({"d->d"}, {"in0", "a > b ? a : b", "out0 = a"}) == 4);
  BOOST_TEST(value({"d->d"}, {"in0", "a + b", "out0 = -a"}) == -7);
  BOOST_TEST(value({"d->d"}, {"in0 / 2", "a + b", "out0 = a", "int"}) == 3);  // 0 + 1 + 2
  BOOST_TEST(value({"d->d"}, {"in0 / 2", "a + b", "out0 = a", "float"}) == 3.5);
  BOOST_TEST(value({"d->d"}, {"g(in0)", "a + b", "out0 = a"}, "__device__ double g(double x) { return x + 1; }") == 10);
  BOOST_TEST(value({"d->d"}, {"g(in0)", "a + b", "out0 = a"}, "__device__ double g(double x) { return x + 2; }") == 13);
  // Texts of the loop's own go before the common ones.
  const nd::ReductionRoutine common = {"in0", "a + b", "out0 = a"};
  BOOST_TEST(value({{"d->d", {.map = "2 * in0"}}}, common) == 14);
  BOOST_TEST(value({{"d->d", {.map = "3 * in0"}}}, common) == 21);
  BOOST_TEST(value({{"d->d", {.reduce = "a > b ? a : b"}}}, common) == 4);
  BOOST_TEST(value({{"d->d", {.post_map = "out0 = a / 2"}}}, common) == 3.5);
  BOOST_TEST(value({{"d->d", {.map = "in0 / 2", .reduce_type = "int"}}}, common) == 3);
  BOOST_TEST(value({{"d->d", {.map = "in0 / 2"}}}, common) == 3.5);
}

BOOST_AUTO_TEST_CASE(identities_and_accumulators) {
  const nd::ReductionRoutine sum = {"in0", "a + b", "out0 = a"};
  const Array none = nd::zeros({0});
  for (const double identity : {0.0, 1.0 / 3, -1e-300}) {
    const auto f = nd::create_reduction_func("of_nothing", {"d->d"}, sum, identity);
    BOOST_TEST(f(none).item<double>() == identity);
  }
  const auto nan = nd::create_reduction_func("of_nothing", {"d->d"}, sum, std::nan(""));
  BOOST_TEST(std::isnan(nan(none).item<double>()));
  for (const bool identity : {false, true}) {
    const auto f = nd::create_reduction_func("of_no_bools", {"?->?"}, {"in0", "a && b", "out0 = a"}, identity);
    BOOST_TEST(f(nd::zeros({0}, nd::bool_)).item<bool>() == identity);
  }
  // Without reduce_type the output's type is reduced; dtype takes a loop that holds the elements.
  const auto wide = nd::create_reduction_func("wide_sum", {"b->l"}, sum, 0);
  BOOST_TEST(wide(nd::full({300}, 100, {.dtype = nd::int8})).item<int>() == 30000);
  // The loop's output type is what the text sees, also beside an output of another dtype.
  const auto whole = nd::create_reduction_func("whole_sum", {"d->l"}, {"in0", "a + b", "out0 = a", "double"}, 0);
  const Array out = nd::full({}, -7.0);
  whole(nd::array({1.25, 1.5}), {.out = out});
  BOOST_TEST(out.item<double>() == 2);
  const auto two = nd::create_reduction_func("two_loops", {{"b->d", {.map = "100 * in0"}}, "d->d"}, sum, 0);
  BOOST_TEST(two(nd::array({1.5, 2.5}), {.dtype = nd::float64}).item<double>() == 4);
}

BOOST_AUTO_TEST_CASE(reduction_errors) {
  const auto f = nd::create_reduction_func("plain_sum", {"f->f"}, {"in0", "a + b", "out0 = a"}, 0);
  const Array x = nd::ones({2, 3}, nd::float32);
  BOOST_TEST(message_of<nd::ValueError>([&] { f(x, 2); }) ==
             "plain_sum: axis 2 is out of bounds for array of dimension 2");
  BOOST_CHECK_THROW(f(x, {.axis = {0, 0}}), nd::ValueError);
  BOOST_TEST(message_of<nd::TypeError>([&] { f(x, {.dtype = nd::int32}); }) ==
             "plain_sum: no loop with the output dtype int32");
  BOOST_TEST(message_of<nd::TypeError>([&] { f(x.astype(nd::float64)); }) == "plain_sum: no loop for (float64,)");
  BOOST_TEST(message_of<nd::ValueError>([&] { f(x, {.axis = 0, .out = nd::empty({2}, nd::float32)}); }) ==
             "plain_sum: the output has shape (2,), the result (3,)");
  BOOST_TEST(message_of<nd::TypeError>([&] { f(Array()); }) == "plain_sum: the array is null");
  const auto message = [](const std::vector<nd::ReductionOp>& ops, const nd::ReductionRoutine& routine) {
    return message_of<nd::ValueError>([&] { nd::create_reduction_func("r", ops, routine); });
  };
  BOOST_TEST(message({"ff->f"}, {"in0", "a + b", "out0 = a"}) ==
             "r: the loop \"ff->f\" of a reduction must have one input and one output");
  BOOST_TEST(message({"f->f"}, {"in0", "a + b"}) == "r: the loop \"f->f\" needs the texts map, reduce and post_map");
}

BOOST_AUTO_TEST_SUITE_END()
