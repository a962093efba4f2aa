// Elementwise functions: golden values, loop choice, broadcasting, outputs, overlap, layouts.
#include <catena/kernels/registry/families.h>
#include <catena/ndarray/engine/execute.h>
#include <catena/ndarray/engine/ufunc.h>

#include <complex>
#include <functional>
#include <map>

#include <catena/ndarray/routines/math.h>
#include <catena/tests/support/ndarray_values.h>

namespace {

using nd::Array;
using nd::Operand;
using test::difference;
using test::message_of;

using Function = std::function<std::vector<Array>(const std::vector<Array>&)>;

// Every public elementwise function by name, from the very lists that declare them.
const std::map<std::string, Function>& functions() {
  static const std::map<std::string, Function> table = {
#define CATENA_UNARY(name) {#name, [](const std::vector<Array>& a) { return std::vector<Array>{nd::name(a[0])}; }},
#define CATENA_BINARY(name) \
  {#name, [](const std::vector<Array>& a) { return std::vector<Array>{nd::name(a[0], a[1])}; }},
#include <catena/kernels/lists/elementwise.inc>
#undef CATENA_UNARY
#undef CATENA_BINARY
    {"clip", [](const std::vector<Array>& a) { return std::vector<Array>{nd::clip(a[0], a[1], a[2])}; }},
    {"where", [](const std::vector<Array>& a) { return std::vector<Array>{nd::where(a[0], a[1], a[2])}; }},
    {"nextafter", [](const std::vector<Array>& a) { return std::vector<Array>{nd::nextafter(a[0], a[1])}; }},
    {"modf",
     [](const std::vector<Array>& a) {
       const auto [fraction, whole] = nd::modf(a[0]);
       return std::vector<Array>{fraction, whole};
     }},
    {"frexp",
     [](const std::vector<Array>& a) {
       const auto [mantissa, exponent] = nd::frexp(a[0]);
       return std::vector<Array>{mantissa, exponent};
     }},
    {"divmod",
     [](const std::vector<Array>& a) {
       const auto [q, r] = nd::divmod(a[0], a[1]);
       return std::vector<Array>{q, r};
     }}
  };
  return table;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(ufunc)

BOOST_AUTO_TEST_CASE(golden_values_in_any_layout) {
  const auto golden = test::Golden::open("nd_ufunc");
  test::Turns turns("golden cases of nd_ufunc");
  std::mt19937 random(1);
  golden.for_each([&](const test::Json& c) -> std::string {
    const std::string name = c["name"], function = c["function"];
    const bool bits = function == "packbits" || function == "unpackbits";
    if (!bits && !functions().contains(function)) return function;
    if (!turns.take_case()) return {};
    const Function run = bits ? Function([&](const std::vector<Array>& a) {
      return std::vector<Array>{function == "packbits" ? nd::packbits(a[0]) : nd::unpackbits(a[0])};
    })
                              : functions().at(function);
    const std::vector<Array> inputs = test::arrays_of(golden, c["inputs"]),
                             expected = test::arrays_of(golden, c["outputs"]);
    const std::vector<Array> outputs = run(inputs);
    BOOST_REQUIRE_EQUAL(outputs.size(), expected.size());
    std::vector<Array> views;
    for (const Array& a : inputs) views.push_back(test::scattered(a, random));
    const std::vector<Array> of_views = run(views);
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      CHECK_SAME(difference(outputs[k], expected[k], c), name);
      BOOST_TEST(test::same_bits(of_views[k], outputs[k]), name << ": a view gives other bits than its copy");
      BOOST_TEST(outputs[k].is_c_contiguous());
    }
    return {};
  });
}

BOOST_AUTO_TEST_CASE(golden_casts) {
  const auto golden = test::Golden::open("nd_cast");
  test::Turns turns("golden cases of nd_cast");
  std::mt19937 random(2);
  golden.for_each([&](const test::Json& c) -> std::string {
    if (!turns.take_case()) return {};
    const Array x = test::arrays_of(golden, c["inputs"])[0], expected = test::arrays_of(golden, c["outputs"])[0];
    const nd::Dtype to = nd::dtype_from_name(c["args"]["dtype"].get<std::string>());
    CHECK_SAME(difference(x.astype(to), expected, c), c["name"].get<std::string>());
    CHECK_SAME(difference(test::scattered(x, random).astype(to), expected, c), c["name"].get<std::string>());
    Array out = nd::empty(x.shape(), to);
    std::move(out) = x;  // assignment to a temporary writes through
    CHECK_SAME(difference(out, expected, c), c["name"].get<std::string>());
    return {};
  });
}

BOOST_AUTO_TEST_CASE(golden_loop_choice) {
  const auto golden = test::Golden::open("nd_promotion");
  const auto& g = golden.cases();
  BOOST_TEST(g["promote_types"].size() == 144u);
  BOOST_TEST(g["ufunc_array_array"].size() == 2592u);
  BOOST_TEST(g["ufunc_unary"].size() == 228u);
  for (const auto& row : g["promote_types"])
    BOOST_TEST(nd::promote_types(nd::dtype_from_name(row[0].get<std::string>()),
                                 nd::dtype_from_name(row[1].get<std::string>())) ==
               nd::dtype_from_name(row[2].get<std::string>()));
  // The choice needs no elements, and without any nothing is compiled.
  const auto check = [&](const std::string& function, const std::vector<Array>& inputs, const std::string& expected,
                         const std::string& what) {
    BOOST_REQUIRE_MESSAGE(functions().contains(function), function << " is missing");
    std::string actual;
    try {
      actual = nd::name_of(functions().at(function)(inputs)[0].dtype());
    } catch (const nd::TypeError&) {
      actual = "error";
    }
    BOOST_TEST(actual == expected, what << ": " << actual << " instead of " << expected);
  };
  for (const auto& row : g["ufunc_array_array"]) {
    const std::string f = row[0], a = row[1], b = row[2], result = row[3].is_string() ? row[3] : row[3][0];
    check(f, {nd::empty(0, nd::dtype_from_name(a)), nd::empty(0, nd::dtype_from_name(b))}, result,
          f + " of " + a + " and " + b);
  }
  for (const auto& row : g["ufunc_unary"]) {
    const std::string f = row[0], a = row[1], result = row[2].is_string() ? row[2] : row[2][0];  // of the first output
    check(f, {nd::empty(0, nd::dtype_from_name(a))}, result, f + " of " + a);
  }
}

BOOST_AUTO_TEST_CASE(bfloat16_loops) {
  const Array x = nd::array({1.5, -2.0, 3.0}, {.dtype = nd::bfloat16});
  BOOST_TEST(nd::add(x, x).dtype() == nd::bfloat16);
  BOOST_TEST(nd::add(x, 1).dtype() == nd::bfloat16);
  BOOST_TEST(nd::exp(x).dtype() == nd::bfloat16);
  BOOST_TEST(nd::add(x, nd::ones(3, nd::float16)).dtype() == nd::float32);
  BOOST_TEST(nd::add(x, nd::ones(3, nd::int8)).dtype() == nd::bfloat16);
  BOOST_TEST(difference(nd::add(x, x), nd::array({3.0, -4.0, 6.0}, {.dtype = nd::bfloat16})) == "");
}

BOOST_AUTO_TEST_CASE(broadcasting) {
  const Array a = nd::arange(6).reshape(2, 3), b = nd::array({10, 20, 30}), c = nd::array({{100}, {200}});
  BOOST_TEST(difference(nd::add(a, b), nd::array({{10, 21, 32}, {13, 24, 35}})) == "");
  BOOST_TEST(difference(nd::add(c, b), nd::array({{110, 120, 130}, {210, 220, 230}})) == "");
  BOOST_TEST(nd::add(nd::ones({2, 1, 3}), nd::ones({3, 1})).shape() == (nd::Shape{2, 3, 3}));
  BOOST_TEST(nd::add(nd::ones({0, 3}), nd::ones({1, 3})).shape() == (nd::Shape{0, 3}));
  BOOST_TEST(nd::add(nd::ones(nd::Shape{}), 1).shape() == nd::Shape{});
  BOOST_TEST(nd::add(1, 2).item<int>() == 3);
  BOOST_TEST(nd::add(1, 2).dtype() == nd::int64);
  BOOST_TEST(nd::add(true, false).dtype() == nd::bool_);
  BOOST_TEST(message_of<nd::ValueError>([&] { nd::add(a, nd::ones(4)); }) ==
             "add: shapes (2, 3) and (4,) do not broadcast together");
  BOOST_TEST(message_of<nd::ValueError>([&] {
               nd::add(nd::ones({0, 3}), nd::ones({2, 3}));
             }) == "add: shapes (0, 3) and (2, 3) do not broadcast together");
}

BOOST_AUTO_TEST_CASE(given_outputs) {
  const Array a = nd::arange(6).reshape(2, 3);
  Array out = nd::empty({2, 3}, nd::float64);
  const Array r = nd::add(a, 1, {.out = out});
  BOOST_TEST(r.get() == out.get());
  BOOST_TEST(difference(out, nd::arange(1, 7).reshape(2, 3).astype(nd::float64)) == "");
  // Inputs broadcast up to the output.
  Array tall = nd::empty({2, 2, 3}, nd::int64);
  nd::add(a, nd::array({10, 20, 30}), {.out = tall});
  BOOST_TEST(tall.sum().item<int>() == 2 * (15 + 120));
  BOOST_TEST(message_of<nd::ValueError>([&] { nd::add(a, 1, {.out = nd::empty({3}, nd::int64)}); }) ==
             "add: the output has shape (3,), the operands broadcast to (2, 3)");
  BOOST_TEST(message_of<nd::ValueError>([&] { nd::add(a, 1, {.out = nd::empty({4}, nd::int64)}); }) ==
             "add: the output has shape (4,), the operands broadcast to (2, 3)");
  BOOST_TEST(message_of<nd::TypeError>([&] {
               nd::add(a, 1.5, {.out = nd::empty({2, 3}, nd::int64)});
             }) == "add: cannot cast the result from float64 to int64 under casting 'same_kind'");
  Array ints = nd::zeros({2, 3}, nd::int64);
  nd::add(a, 1.5, {.out = ints, .casting = nd::Casting::unsafe});
  BOOST_TEST(difference(ints, nd::arange(1, 7).reshape(2, 3)) == "");
  BOOST_CHECK_THROW(nd::add(a, 1, {.out = nd::empty({2, 3}, nd::float64), .casting = nd::Casting::no}), nd::TypeError);
  const Array line = nd::zeros(3, nd::int64);
  const Array repeated = nd::internal::make_view(line, {2, 3}, {0, 8});
  BOOST_CHECK_THROW(nd::add(a, 1, {.out = repeated}), nd::ValueError);
  // Two outputs.
  Array q = nd::empty(3, nd::int64), rest = nd::empty(3, nd::int64);
  nd::divmod(nd::array({7, -7, 5}), nd::array({2, 2, 0}), {.out = {q, rest}});
  BOOST_TEST(difference(q, nd::array({3, -4, 0})) == "");
  BOOST_TEST(difference(rest, nd::array({1, 1, 0})) == "");
  BOOST_CHECK_THROW(nd::divmod(q, 2, {.out = {q, Array()}}), nd::ValueError);
  BOOST_CHECK_THROW(nd::divmod(q, 2, {.out = {rest, rest}}), nd::ValueError);
}

BOOST_AUTO_TEST_CASE(nothing_is_written_when_an_argument_is_wrong) {
  Array out = nd::full({2, 3}, 7);
  const std::uint64_t version = out.version();
  BOOST_CHECK_THROW(nd::add(nd::ones({2, 3}), 1.5, {.out = out}), nd::TypeError);
  BOOST_CHECK_THROW(nd::add(nd::ones({4}, nd::int64), 1, {.out = out}), nd::ValueError);
  BOOST_CHECK_THROW(nd::add(nd::ones({2, 3}, nd::int8), 300, {.out = out}), nd::ValueError);
  BOOST_TEST(out.version() == version);
  BOOST_TEST(difference(out, nd::full({2, 3}, 7)) == "");
}

BOOST_AUTO_TEST_CASE(dtype_argument) {
  const Array a = nd::arange(4);
  BOOST_TEST(nd::add(a, 1, {.dtype = nd::float32}).dtype() == nd::float32);
  // Inputs are converted before the calculation, to the inputs of the loop.
  BOOST_TEST(difference(nd::add(nd::array({1.9, -1.9}), nd::array({1.9, -1.9}), {.dtype = nd::int8}),
                        nd::array({2, -2}, {.dtype = nd::int8})) == "");
  BOOST_TEST(difference(nd::true_divide(nd::array({1000, 3}), 8, {.dtype = nd::float64}), nd::array({125.0, 0.375})) ==
             "");
  BOOST_TEST(nd::exp(a, {.dtype = nd::float16}).dtype() == nd::float16);
  BOOST_TEST(message_of<nd::TypeError>([&] { nd::exp(a, {.dtype = nd::int32}); }) ==
             "exp: no loop with the output dtype int32");
  // Comparisons choose by their inputs.
  BOOST_TEST(difference(nd::less(nd::array({0.25, 0.75}), nd::array({0.5, 0.5}), {.dtype = nd::bool_}),
                        nd::array({true, false})) == "");
  BOOST_CHECK_THROW(nd::less(a, a, {.dtype = nd::int64}), nd::TypeError);
}

BOOST_AUTO_TEST_CASE(overlapping_operands) {
  // a[1:] += a[:-1] reads everything before it writes.
  Array a = nd::arange(10);
  const Array head = nd::internal::make_view(a, {9}, {8}), tail = nd::internal::make_view(a, {9}, {8}, 8);
  nd::add(tail, head, {.out = tail});
  BOOST_TEST(difference(a, nd::array({0, 1, 3, 5, 7, 9, 11, 13, 15, 17})) == "");
  // Reversed into itself.
  a = nd::arange(5);
  const Array back = nd::internal::make_view(a, {5}, {-8}, 32);
  nd::multiply(back, 2, {.out = a});
  BOOST_TEST(difference(a, nd::array({8, 6, 4, 2, 0})) == "");
  nd::internal::assign("test", a, back);
  BOOST_TEST(difference(a, nd::array({0, 2, 4, 6, 8})) == "");
  // Transposed.
  Array m = nd::arange(9).reshape(3, 3);
  nd::add(m, m.T(), {.out = m});
  BOOST_TEST(difference(m, nd::array({{0, 4, 8}, {4, 8, 12}, {8, 12, 16}})) == "");
  // Random overlapping windows of one block, against copies.
  std::mt19937 random(3);
  for (int i = 0; i < 200; ++i) {
    const Array block = test::random_array({64}, nd::int32, random), same = block.copy();
    const std::int64_t n = 1 + std::int64_t(random() % 10);
    const auto window = [&](const Array& of, std::uint32_t r) {
      const std::int64_t stride = 4 * (std::int64_t(r % 7) - 3), first = 4 * (30 + std::int64_t(r / 7 % 4));
      return nd::internal::make_view(of, {n}, {stride == 0 ? 4 : stride}, first);
    };
    const std::uint32_t r1 = random(), r2 = random(), r3 = random();
    const Array x = window(same, r1).copy(), y = window(same, r2).copy();
    nd::subtract(window(block, r1), window(block, r2), {.out = window(block, r3)});
    nd::internal::assign("test", window(same, r3), nd::subtract(x, y));
    BOOST_TEST(test::same_bits(block, same));
  }
}

BOOST_AUTO_TEST_CASE(arrays_of_one_element_beside_others) {
  for (const nd::Dtype t : {nd::float16, nd::float32, nd::float64})
    for (const std::int64_t n : {1, 3, 20000}) {
      const Array a = nd::arange(n).astype(t) % 7, ten = nd::array({10}).astype(t), number = nd::array(10).astype(t);
      const Array less = nd::subtract(a, 10);
      const Array other = ten.reshape({1, 1});
      BOOST_TEST(test::same_bits(a - ten, less));
      BOOST_TEST(test::same_bits(a - number, less));
      BOOST_TEST(test::same_bits(number - a, nd::negative(less)));
      BOOST_TEST(test::same_bits(other - a, nd::negative(less).reshape({1, n})));
      BOOST_TEST(test::same_bits(nd::where(ten < 11, a, number), a));
      Array out = nd::zeros({n}, t);
      nd::subtract(number, a, {.out = out});
      BOOST_TEST(test::same_bits(out, nd::negative(less)));
      out -= ten;
      BOOST_TEST(test::same_bits(out, nd::subtract(0, a)));
      // An element of the output itself, which is read before it is written.
      Array own = a.copy();
      own -=
          nd::internal::make_view(own, {1}, {std::int64_t(nd::itemsize(t))}, (n - 1) * std::int64_t(nd::itemsize(t)));
      BOOST_TEST(test::same_bits(own, nd::subtract(a, double(a(n - 1)))));
      if (n > 1) BOOST_CHECK_THROW(nd::add(a, a, {.out = ten}), nd::ValueError);
      BOOST_CHECK_THROW(nd::add(a, other, {.out = a}), nd::ValueError);
      BOOST_TEST(difference(ten, nd::array({10}).astype(t)) == "");
    }
}

BOOST_AUTO_TEST_CASE(empty_and_0d) {
  for (const auto& [name, f] : functions()) {
    const nd::Dtype t = nd::ufunc(name).types()[0][0] == 'e' || nd::ufunc(name).nin() == 3 ? nd::float32 : nd::int32;
    std::vector<Array> none(3, nd::empty({0, 2}, t)), zero_d(3, nd::ones({}, t));
    if (name == "ldexp") none[1] = nd::empty({0, 2}, nd::int32), zero_d[1] = nd::ones({}, nd::int32);
    BOOST_TEST(f(none)[0].shape() == (nd::Shape{0, 2}), name);
    BOOST_TEST(f(zero_d)[0].shape() == nd::Shape{}, name);
    BOOST_TEST(f(zero_d)[0].dtype() == f(none)[0].dtype(), name);
  }
}

// Arrays of the same layout, of lengths on both sides of what is computed at once, in dtypes that are computed as they
// are and others.
BOOST_AUTO_TEST_CASE(arrays_that_are_alike) {
  for (const nd::Dtype t : {nd::float32, nd::float16, nd::int8, nd::int16})
    for (const std::int64_t n : {1, 100, 8192, 8193}) {
      const Array a = nd::remainder(nd::arange(n), 50).astype(t), b = nd::remainder(nd::arange(n), 7).astype(t);
      const auto x = a.astype(nd::float64).to_vector<double>(), y = b.astype(nd::float64).to_vector<double>();
      std::vector<double> sum, half;
      for (std::size_t i = 0; i < x.size(); ++i) sum.push_back(x[i] + y[i]), half.push_back(x[i] - 3);
      BOOST_TEST(difference(a + b, nd::array(sum).astype(t)) == "");
      BOOST_TEST(difference(a - 3, nd::array(half).astype(t)) == "");
      Array out = nd::empty(n, nd::float64);  // another dtype than that of the loop
      nd::add(a, b, {.out = out});
      BOOST_TEST(difference(out, nd::array(sum)) == "");
      BOOST_TEST((a + b.astype(nd::float64)).dtype() == nd::float64);
      BOOST_TEST(difference(a + b.astype(nd::float64), nd::array(sum)) == "");
    }
}

BOOST_AUTO_TEST_CASE(a_step_that_reads_one_input_twice) {
  const Array a = nd::array({1.f, -2.5f, 3.f});
  const catena::KernelDef& row = catena::kernels::multiply;
  const catena::Step step{&row, static_cast<std::uint16_t>(row.loop_of(nd::float32)), {0, 0, 1}};
  const nd::Dtype slots[] = {nd::float32, nd::float32};
  const catena::Program program{{&step, 1}, slots, 1, 0, 1};
  const catena::Input input(*a.get());
  Array out = nd::zeros(3, nd::float32);
  catena::ArrayHeader* const outputs[] = {out.get()};
  nd::internal::execute(catena::call::Elementwise{&program, {&input, 1}, outputs, {}, a.get()});
  BOOST_TEST(difference(out, nd::array({1.f, 6.25f, 9.f})) == "");
}

BOOST_AUTO_TEST_CASE(versions) {
  Array a = nd::zeros(3);
  const std::uint64_t v = a.version();
  nd::add(a, 1, {.out = a});
  BOOST_TEST(a.version() == v + 1);
  a += 1;
  BOOST_TEST(a.version() == v + 2);
  a.T().fill(0);
  BOOST_TEST(a.version() == v + 3);
  const Array b = a + 1;
  BOOST_TEST(a.version() == v + 3);
  a.data<const double>();
  BOOST_TEST(a.version() == v + 3);
  a.data<double>();
  BOOST_TEST(a.version() == v + 4);
}

BOOST_AUTO_TEST_CASE(memory_of_expiring_operands) {
  Array a = nd::ones(1000, nd::float32);
  const std::byte* memory = a->data;
  Array b = std::move(a) + 1;
  BOOST_TEST((b->data == memory) == (b.device() == nd::cpu_device));  // on a device other streams might still read it
  BOOST_TEST(difference(b, nd::full({1000}, 2.0f)) == "");
  // Not while another handle refers to it,
  Array c = b;
  Array d = std::move(c) + 1;
  BOOST_TEST((d->data != b->data));
  BOOST_TEST(difference(b, nd::full({1000}, 2.0f)) == "");
  const Array view = d.reshape(10, 100);
  Array e = std::move(d) * 2;
  BOOST_TEST((e->data != view->data));
  BOOST_TEST(difference(view, nd::full({10, 100}, 3.0f)) == "");
  // nor for another dtype or shape, nor foreign memory.
  Array f = (e.copy() < 7) + nd::zeros({2, 1000}, nd::bool_);
  BOOST_TEST(f.shape() == (nd::Shape{2, 1000}));
  float own[3] = {1, 2, 3};
  Array g = nd::wrap(own, {3}) + 1;
  BOOST_TEST(own[0] == 1);
  BOOST_TEST((g->data != reinterpret_cast<std::byte*>(own)));
  // The same array twice.
  Array h = nd::full({4}, 3.0);
  h = std::move(h) * h;
  BOOST_TEST(difference(h, nd::full({4}, 9.0)) == "");
  // As a chain of temporaries.
  BOOST_TEST(difference(-nd::full({5}, 2.0) * 3 + nd::full({5}, 1.0), nd::full({5}, -5.0)) == "");
}

BOOST_AUTO_TEST_CASE(selection) {
  const Array c = nd::array({true, false, true});
  BOOST_TEST(difference(nd::where(c, 1, 2), nd::array({1, 2, 1})) == "");
  BOOST_TEST(difference(nd::where(nd::array({2.0, 0.0, std::nan("")}), nd::ones(3, nd::float32), 0),
                        nd::array({1.f, 0.f, 1.f})) == "");
  BOOST_TEST(nd::where(true, nd::ones(2, nd::int8), nd::zeros(2, nd::int8)).dtype() == nd::int8);
  BOOST_TEST(nd::where(c, nd::ones({2, 1}), nd::ones({4, 1, 1}, nd::int8)).shape() == (nd::Shape{4, 2, 3}));
  BOOST_TEST(difference(nd::clip(nd::array({1, 5, 9}), 3, 7), nd::array({3, 5, 7})) == "");
  BOOST_TEST(difference(nd::clip(nd::array({1, 5, 9}), 7, 3), nd::array({3, 3, 3})) == "");  // the upper bound wins
  BOOST_TEST(difference(nd::array({1, 5, 9}).clip(3, 7), nd::array({3, 5, 7})) == "");
}

BOOST_AUTO_TEST_CASE(exact_integers) {
  const Array big = nd::array({std::int64_t(9007199254740993)});
  BOOST_TEST(difference(nd::power(nd::array({3}), 39), nd::array({4052555153018976267})) == "");
  BOOST_TEST(difference(nd::fmod(big, 10), nd::array({3})) == "");
  const Array u = nd::array(std::vector<std::uint64_t>{9007199254740992u});
  BOOST_TEST(difference(nd::equal(u, big), nd::array({false})) == "");
  BOOST_TEST(difference(nd::less(u, big), nd::array({true})) == "");
  BOOST_TEST(difference(nd::power(nd::array({2, 1, -1, 0}), nd::array({-1, -5, -3, -2})), nd::array({0, 1, -1, 0})) ==
             "");
}

// nextafter has a body for each 16-bit type: the neighbour of a float16 is another number than that of its float.
BOOST_AUTO_TEST_CASE(nextafter_by_name) {
  const nd::ufunc nextafter("nextafter");
  BOOST_TEST(nextafter.types() == (std::vector<std::string>{"ee->e", "EE->E", "ff->f", "dd->d"}),
             boost::test_tools::per_element());
  const std::pair<nd::Dtype, double> steps[] = {
      {nd::float16, 0x1p-10}, {nd::bfloat16, 0x1p-7}, {nd::float32, 0x1p-23}, {nd::float64, 0x1p-52}};
  for (const auto& [dtype, step] : steps) {
    const Array one = nd::ones({3}, dtype), two = nd::full({3}, 2, {.dtype = dtype});
    const Array expected = nd::full({3}, 1 + step, {.dtype = dtype}), out = nd::zeros({3}, dtype);
    BOOST_TEST(difference(nextafter(one, two), expected) == "", dtype);
    BOOST_TEST(difference(nextafter.call(std::vector<Operand>{one, two, out})[0], expected) == "", dtype);
    BOOST_TEST(difference(out, expected) == "", dtype);
    BOOST_TEST(difference(nextafter(nd::ones({3}, nd::int8), two, {.dtype = dtype}), expected) == "", dtype);
    BOOST_TEST(nextafter(one, 2).dtype() == dtype, dtype);
  }
}

BOOST_AUTO_TEST_CASE(bits_of_bytes) {
  std::mt19937 random(7);
  for (const std::int64_t n : {0, 1, 7, 8, 9, 64, 1001}) {
    const auto size = static_cast<std::size_t>(n);
    std::vector<std::int64_t> numbers(size), packed((size + 7) / 8), bits(packed.size() * 8);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      numbers[i] = random() % 2 ? std::int64_t(random() % 5) - 2 : 0;
      packed[i / 8] += std::int64_t(numbers[i] != 0) << (7 - i % 8);
      bits[i] = numbers[i] != 0;
    }
    const Array a = nd::array(numbers), expected = nd::array(packed, nd::uint8);
    CHECK_SAME(difference(nd::packbits(a), expected), n);
    CHECK_SAME(difference(nd::packbits(test::scattered(a.astype(nd::int8), random)), expected), n);
    CHECK_SAME(difference(nd::packbits(a.astype(nd::bool_).reshape(-1, 1)), expected), n);
    CHECK_SAME(difference(nd::unpackbits(test::scattered(expected, random)), nd::array(bits, nd::uint8)), n);
  }
  BOOST_TEST(nd::packbits(nd::array(3)).item<int>() == 128);
  BOOST_TEST(message_of<nd::TypeError>([] { nd::packbits(nd::zeros(3)); }) ==
             "packbits: the array has dtype float64, must have integers or bools");
  BOOST_TEST(message_of<nd::TypeError>([] { nd::unpackbits(nd::zeros(3, nd::int8)); }) ==
             "unpackbits: the array has dtype int8, must have uint8");
}

BOOST_AUTO_TEST_CASE(objects) {
  const nd::ufunc add("add");
  BOOST_TEST(add.name() == "add");
  BOOST_TEST(add.nin() == 2);
  BOOST_TEST(add.nout() == 1);
  BOOST_TEST(add.nargs() == 3);
  BOOST_TEST(add.types().front() == "?\?->?");
  BOOST_TEST(add.to_string() == "<ufunc 'add'>");
  BOOST_TEST(nd::ufunc("abs").name() == "absolute");
  const Array a = nd::arange(3), out = nd::empty(3, nd::int64);
  BOOST_TEST(difference(add(a, 1), nd::array({1, 2, 3})) == "");
  BOOST_TEST(add.call(std::vector<Operand>{a, 2, out})[0].get() == out.get());
  BOOST_TEST(difference(out, nd::array({2, 3, 4})) == "");
  BOOST_CHECK_THROW(add.call(std::vector<Operand>{a}), nd::TypeError);
  BOOST_CHECK_THROW(add.call(std::vector<Operand>{a, 1, 2}), nd::TypeError);
  BOOST_CHECK_THROW(add.call(std::vector<Operand>{a, 1, out}, {.out = out}), nd::ValueError);
  const nd::ufunc divmod("divmod");
  BOOST_TEST(divmod.call(std::vector<Operand>{a, 2}).size() == 2);
  BOOST_CHECK_THROW(divmod.call(std::vector<Operand>{a, 2}, {.out = out}), nd::ValueError);
  BOOST_CHECK_THROW(divmod(a, 2), nd::TypeError);
  BOOST_TEST(message_of<nd::KeyError>([] { nd::ufunc("no_such"); }) ==
             "ufunc: there is no elementwise function named \"no_such\"");
  BOOST_TEST(message_of<nd::KeyError>([] { nd::ufunc(""); }) == "ufunc: there is no elementwise function named \"\"");
  BOOST_CHECK_THROW(nd::ufunc("sum"), nd::TypeError);
  BOOST_CHECK_THROW(nd::exp(Array()), nd::TypeError);
}

// D31: operands are arrays and numbers. Host containers are no operands: nd::array makes an array of one.
template <class X>
concept UfuncOperand = requires(const X& x, const Array& a) {
  nd::add(a, x);
};
static_assert(UfuncOperand<Array> && UfuncOperand<double> && UfuncOperand<int> && UfuncOperand<bool> &&
              UfuncOperand<nd::Scalar> && UfuncOperand<std::vector<double>> &&
              UfuncOperand<std::initializer_list<double>>);
static_assert(!UfuncOperand<std::string> && !UfuncOperand<const char*> && !UfuncOperand<double*> &&
              !UfuncOperand<std::vector<bool>> && !UfuncOperand<std::vector<std::string>> &&
              !UfuncOperand<std::array<int, 3>>);
BOOST_AUTO_TEST_CASE(other_operands_are_refused) {
  // Beside the compiler: a null array, and by name the wrong number of operands.
  BOOST_CHECK_THROW(nd::add(Array(), 1), nd::TypeError);
  const nd::Operand three[] = {nd::ones(2), 1, 2};
  BOOST_CHECK_THROW(nd::ufunc("exp").call(three), nd::TypeError);
}

BOOST_AUTO_TEST_CASE(aliases) {
  CHECK_SAME(test::difference(nd::sqrt_fixed(nd::array({4.0, 2.25, 0.0})), nd::array({2.0, 1.5, 0.0})), "sqrt_fixed");
  BOOST_TEST(std::isnan(nd::sqrt_fixed(nd::array({-1.0})).item<double>()));
  BOOST_TEST((nd::sqrt_fixed(nd::ones(2, nd::int8)).dtype() == nd::float16));
  const Array a = nd::array({-4.0, 9.0});
  BOOST_TEST(test::same_bits(nd::abs(a), nd::absolute(a)));
  BOOST_TEST(test::same_bits(nd::degrees(a), nd::rad2deg(a)));
  BOOST_TEST(test::same_bits(nd::radians(a), nd::deg2rad(a)));
  BOOST_TEST(test::same_bits(nd::divide(a, 3), nd::true_divide(a, 3)));
  BOOST_TEST(test::same_bits(nd::mod(a, 3), nd::remainder(a, 3)));
}

BOOST_AUTO_TEST_CASE(all_dtypes_in_random_layouts) {
  std::mt19937 random(4);
  std::size_t number = 0;
  test::Turns turns("pairs of function and dtype");
  for (const auto& [name, f] : functions()) {
    const nd::ufunc u(name);
    ++number;
    for (nd::Dtype t : test::kAllDtypes) {
      if (!turns.take(number, t)) continue;
      nd::Shape shape;
      for (int rank = int(random() % 4); rank > 0; --rank) shape.push_back(1 + int(random() % 20));
      std::vector<Array> packed, views;
      for (int k = 0; k < u.nin(); ++k) {
        packed.push_back(test::random_array(shape, t, random));
        views.push_back(test::scattered(packed.back(), random));
      }
      std::vector<Array> a;
      try {
        a = f(packed);
      } catch (const nd::TypeError&) {
        BOOST_CHECK_THROW(f(views), nd::TypeError);
        continue;
      }
      const std::vector<Array> b = f(views);
      for (std::size_t k = 0; k < a.size(); ++k)
        BOOST_TEST(test::same_bits(a[k], b[k]), name << " of " << t << " at " << shape);
      // One element at a time gives the same bits as well.
      if (a[0].size() > 0) {
        const std::int64_t i = std::int64_t(random() % std::uint32_t(a[0].size()));
        std::vector<Array> single;
        for (const Array& p : packed)
          single.push_back(nd::internal::make_view(p, {}, {}, i * std::int64_t(p.itemsize())).copy());
        const Array at = nd::internal::make_view(a[0], {}, {}, i * std::int64_t(a[0].itemsize()));
        BOOST_TEST(test::same_bits(f(single)[0], at), name << " of " << t << ", element " << i);
      }
    }
  }
}

// Operands that are contiguous along different axes, in whole groups of elements and with rests, the output among them.
BOOST_AUTO_TEST_CASE(operands_contiguous_along_different_axes) {
  std::mt19937 random(8);
  const std::pair<nd::Shape, std::vector<int>> cases[] = {{{37, 70}, {1, 0}},
                                                          {{64, 32}, {1, 0}},
                                                          {{3, 35, 41}, {2, 0, 1}},
                                                          {{17, 5, 33}, {1, 2, 0}},
                                                          {{2, 3, 19, 40}, {3, 1, 0, 2}}};
  for (const auto& [shape, axes] : cases)
    for (const nd::Dtype t : {nd::bool_, nd::int8, nd::float16, nd::float32, nd::int64, nd::complex128}) {
      const Array a = test::random_array(shape, t, random), moved = a.transpose(axes),
                  b = test::random_array(moved.shape(), t, random), out = nd::zeros(shape, t);
      // The element of `a` that is at each position of `moved`.
      std::vector<std::size_t> element;
      for (std::size_t i = 0; i < std::size_t(a.size()); ++i) {
        std::int64_t rest = std::int64_t(i), at = 0;
        for (int k = moved.ndim() - 1; k >= 0; rest /= moved.shape()[k--])
          at += rest % moved.shape()[k] * moved.strides()[k] / std::int64_t(a.itemsize());
        element.push_back(std::size_t(at));
      }
      using Values = std::vector<std::complex<double>>;
      const auto va = a.to_vector<std::complex<double>>(), vb = b.to_vector<std::complex<double>>();
      Values copied(va.size()), largest(va.size()), assigned(va.size());
      for (std::size_t i = 0; i < va.size(); ++i) {
        copied[i] = va[element[i]];
        largest[i] = copied[i].real() < vb[i].real() ? vb[i] : copied[i];
        assigned[element[i]] = vb[i];
      }
      BOOST_TEST((moved.copy().to_vector<std::complex<double>>() == copied), t << " of " << shape);
      if (t != nd::complex128)
        BOOST_TEST((nd::maximum(moved, b).to_vector<std::complex<double>>() == largest), t << " of " << shape);
      out.transpose(axes)(nd::ellipsis) = b;
      BOOST_TEST((out.to_vector<std::complex<double>>() == assigned), t << " of " << shape);
    }
}

BOOST_AUTO_TEST_SUITE_END()
