// Loop choice, broadcasting, binding, overlap, casting rules: against the recorded promotion tables and by hand.
#include <catena/kernels/registry/bind.h>

#include <boost/test/unit_test.hpp>
#include <cmath>

#include <catena/kernels/registry/kernel.h>
#include <catena/tests/support/golden.h>
#include <catena/tests/support/strided.h>

namespace {

using namespace catena;
using test::Header;
using test::Strided;

struct Empty {  // a header without memory: enough for loop choice
  explicit Empty(Dtype t, const Shape& shape = {3}) : s(t, shape), header(s) {}
  operator Input() { return Input(header.h); }
  Strided s;
  Header header;
};

bool is_kernel(const std::string& name) {
  for (const KernelDef& def : all_kernels())
    if (name == def.name) return true;
  return false;
}
// Functions that are several kernels, one per dtype, are put together above this layer.
bool has_kernel(const std::string& name) { return is_kernel(name) && !is_kernel(name + "_float16"); }

// The dtype of the first of one or several outputs.
std::string first_output(const test::Json& dtypes) {
  return (dtypes.is_array() ? dtypes[0] : dtypes).get<std::string>();
}

BOOST_AUTO_TEST_CASE(recorded_promotion_of_two_arrays) {
  const auto golden = test::Golden::open("nd_promotion");
  const test::Json& g = golden.cases();
  std::map<std::string, int> not_one_kernel;
  for (const auto& row : g["ufunc_array_array"]) {
    const std::string name = row[0], expected = first_output(row[3]);
    if (!has_kernel(name)) {
      ++not_one_kernel[name];
      continue;
    }
    Empty a(dtype_from_name(row[1].get<std::string>())), b(dtype_from_name(row[2].get<std::string>()));
    const KernelDef& def = find_kernel(name);
    std::string got;
    try {
      const Input in[] = {a, b};
      got = name_of(def.loop_table[choose_loop(def, in)].type[std::size_t(def.first_output())]);
    } catch (const TypeError&) {
      got = "error";
    }
    BOOST_TEST(got == expected, name << " " << row[1] << " " << row[2] << ": " << got << ", expected " << expected);
  }
  for (const auto& row : g["ufunc_unary"]) {
    const std::string name = row[0];
    if (!has_kernel(name)) {
      ++not_one_kernel[name];
      continue;
    }
    Empty a(dtype_from_name(row[1].get<std::string>()));
    const KernelDef& def = find_kernel(name);
    const Input in[] = {a};
    std::string got;
    try {
      got = name_of(def.loop_table[choose_loop(def, in)].type[std::size_t(def.first_output())]);
    } catch (const TypeError&) {
      got = "error";
    }
    BOOST_TEST(got == first_output(row[2]), name << " " << row[1] << ": " << got);
  }
  BOOST_TEST((not_one_kernel == std::map<std::string, int>{}));
}

BOOST_AUTO_TEST_CASE(recorded_weak_scalars) {
  const auto golden = test::Golden::open("nd_promotion");
  const test::Json& g = golden.cases();
  const KernelDef& add = find_kernel("add");
  for (const auto& row : g["add_array_scalar"]) {
    Empty a(dtype_from_name(row[0].get<std::string>()));
    Scalar s;
    if (row[2] == "bool") s = row[1].get<bool>();
    else if (row[2] == "int") s = row[1].get<std::int64_t>();
    else s = row[1].is_string() ? INFINITY : row[1].get<double>();
    for (const bool scalar_first : {false, true}) {
      const Input in[] = {scalar_first ? Input(s) : Input(a), scalar_first ? Input(a) : Input(s)};
      std::string got;
      try {
        got = name_of(add.loop_table[choose_loop(add, in)].type[2]);
      } catch (const ValueError&) {
        got = "error";
      }
      BOOST_TEST(got == row[3].get<std::string>(), row.dump() << ": " << got);
      if (got != "error") BOOST_TEST(name_of(result_type(in)) == got);
    }
  }
}

BOOST_AUTO_TEST_CASE(loops_with_parameters_of_their_own_type) {
  const KernelDef& im2col = find_kernel("im2col_2d");
  for (Dtype t : {Dtype::float16, Dtype::float32, Dtype::float64, Dtype::bfloat16}) {
    Empty a(t, {1, 1, 4, 4});
    const Scalar one = 1;
    const Input in[] = {a, one, one, one, one, one, one};
    BOOST_TEST(im2col.loop_table[choose_loop(im2col, in)].type[0] == t);
  }
}

BOOST_AUTO_TEST_CASE(bfloat16_promotes_to_itself_where_it_can) {
  const KernelDef& add = find_kernel("add");
  Empty b(Dtype::bfloat16);
  for (Dtype t : test::all_dtypes()) {
    Empty a(t);
    const Input in[] = {a, b};
    BOOST_TEST(add.loop_table[choose_loop(add, in)].type[2] == promote_types(t, Dtype::bfloat16), t);
  }
}

BOOST_AUTO_TEST_CASE(messages) {
  const KernelDef& add = find_kernel("add");
  const auto says = [](const std::string& part) {
    return [part](const Error& e) {
      BOOST_TEST_MESSAGE(e.what());
      return std::string(e.what()).find(part) != std::string::npos;
    };
  };
  Empty a(Dtype::int8), b(Dtype::int8, {4}), c(Dtype::int8, {2, 3});
  const Input few[] = {a};
  BOOST_CHECK_EXCEPTION(choose_loop(add, few), TypeError, says("add: takes 2 inputs, 1 were given"));
  const Scalar big = 300;
  const Input large[] = {a, big};
  BOOST_CHECK_EXCEPTION(choose_loop(add, large), ValueError, says("add: the integer 300 does not fit int8"));
  BOOST_CHECK_EXCEPTION(choose_loop_by_output(find_kernel("tanh"), Dtype::int32), TypeError,
                        says("tanh: no loop with the output dtype int32"));
  const Input shapes[] = {c, b};
  BOOST_CHECK_EXCEPTION(broadcast_shape("add", shapes), ValueError,
                        says("add: shapes (2, 3) and (4,) do not broadcast together"));
  BOOST_CHECK_EXCEPTION(check_output_cast("add", Dtype::float64, Dtype::int32, Casting::same_kind), TypeError,
                        says("add: cannot cast the result from float64 to int32 under casting 'same_kind'"));
  Strided out(Dtype::int8, {3});
  Header oh(out);
  ArrayHeader* outs[] = {&oh.h};
  const Dtype slots[] = {Dtype::int8, Dtype::int8, Dtype::int8};
  const Input two[] = {c, a};
  BoundCall call;
  BOOST_CHECK_EXCEPTION(call.bind("add", two, outs, slots), ValueError,
                        says("the output has shape (3,), the operands broadcast to (2, 3)"));
}

BOOST_AUTO_TEST_CASE(loop_by_output) {
  const KernelDef& add = find_kernel("add");
  for (Dtype t : test::all_dtypes()) BOOST_TEST(add.loop_table[choose_loop_by_output(add, t)].type[0] == t);
}

BOOST_AUTO_TEST_CASE(broadcasting) {
  Empty a(Dtype::float32, {2, 1, 3}), b(Dtype::float32, {4, 1}), z(Dtype::float32, {0, 1, 1}),
      one(Dtype::float32, Shape{});
  const Scalar s = 1.5;
  const Input x[] = {a, b, s};
  BOOST_TEST(broadcast_shape("add", x) == (Shape{2, 4, 3}));
  const Input y[] = {z, b, one};
  BOOST_TEST(broadcast_shape("add", y) == (Shape{0, 4, 1}));
  const Input only[] = {s};
  BOOST_TEST(broadcast_shape("add", only) == Shape{});
}

BOOST_AUTO_TEST_CASE(flat_and_general_binding) {
  Strided a(Dtype::float32, {2, 3}), b(Dtype::float32, {2, 3}), row(Dtype::float32, {3}), one(Dtype::float32, {1, 1}),
      out(Dtype::float32, {2, 3});
  Header ha(a), hb(b), hrow(row), hone(one), hout(out);
  ArrayHeader* outs[] = {&hout.h};
  const Dtype slots[] = {Dtype::float32, Dtype::float32, Dtype::float32};
  const Scalar s = 2.5;
  {
    BoundCall c;
    const Input in[] = {ha.h, hb.h};
    c.bind("add", in, outs, slots, 0, same_layout(in, outs));
    BOOST_TEST(c.loop() == Shape{6});
    BOOST_TEST(c.operands().size() == 3u);
    BOOST_TEST(*c.operands()[0].strides == Strides{4});
  }
  {
    BoundCall c;
    const Input in[] = {ha.h, s};
    c.bind("add", in, outs, slots, 0, same_layout(in, outs));
    BOOST_TEST(c.loop() == Shape{6});
    BOOST_TEST(c.operands()[1].immediate);
    BOOST_TEST(*c.operands()[1].strides == Strides{0});
    float v;
    std::memcpy(&v, c.operands()[1].data, 4);
    BOOST_TEST(v == 2.5f);
  }
  {
    BoundCall c;
    const Input in[] = {hone.h, hb.h};
    c.bind("add", in, outs, slots, 0, same_layout(in, outs));
    BOOST_TEST(c.loop() == Shape{6});
    BOOST_TEST(*c.operands()[0].strides == Strides{0});
  }
  {
    BoundCall c;
    const Input in[] = {ha.h, hb.h};
    c.bind("add", in, outs, slots);
    BOOST_TEST(c.loop() == (Shape{2, 3}));
  }
  {
    BoundCall c;
    const Input in[] = {ha.h, hrow.h};
    BOOST_TEST(same_layout(in, outs) == nullptr);
    c.bind("add", in, outs, slots);
    BOOST_TEST(c.loop() == (Shape{2, 3}));
    BOOST_TEST(*c.operands()[1].strides == (Strides{0, 4}));
    BOOST_TEST(*c.operands()[2].strides == (Strides{12, 4}));
  }
  {
    BoundCall c;  // the raw operand keeps its shape and takes no part in broadcasting
    Strided raw(Dtype::float32, {7, 5});
    Header hraw(raw);
    const Input in[] = {hraw.h, hrow.h};
    c.bind("pick", in, outs, slots, 1);
    BOOST_TEST(c.loop() == (Shape{2, 3}));
    BOOST_TEST(*c.operands()[0].shape == (Shape{7, 5}));
  }
}

BOOST_AUTO_TEST_CASE(arrays_of_one_layout) {
  Strided wide(Dtype::float32, {2, 3}), turned(Dtype::float64, {2, 3}, test::Layout::f_order),
      also(Dtype::float64, {2, 3}), one(Dtype::float32, {1, 1}), scalar(Dtype::float32, Shape{}),
      deep(Dtype::float32, {1, 1, 1}), none(Dtype::float32, {0, 3});
  Header w(wide), t(turned), a(also), o(one), s(scalar), d(deep), n(none);
  const auto model = [](std::vector<const Header*> in, std::vector<Header*> out = {}) {
    std::vector<Input> inputs{Input(Scalar(2))};
    std::vector<ArrayHeader*> outputs;
    for (const Header* h : in) inputs.push_back(h->h);
    for (Header* h : out) outputs.push_back(&h->h);
    return same_layout(inputs, outputs);
  };
  BOOST_TEST(model({}) == nullptr);
  BOOST_TEST(model({&w}) == &w.h);
  BOOST_TEST(model({&w, &a, &w}, {&a}) == &w.h);
  BOOST_TEST(model({&t}) == nullptr);
  BOOST_TEST(model({&w, &t}) == nullptr);
  BOOST_TEST(model({&w, &n}) == nullptr);
  // An array of one element has the layout if it adds no axis, before or after the others.
  BOOST_TEST(model({&o, &w}, {&a}) == &w.h);
  BOOST_TEST(model({&s, &o, &w, &s}) == &w.h);
  BOOST_TEST(model({&s, &d, &o}) == &d.h);
  BOOST_TEST(model({&d, &w}) == nullptr);
  BOOST_TEST(model({&w, &d}) == nullptr);
  BOOST_TEST(model({&o, &n}) == &n.h);
  // An output has the common shape.
  BOOST_TEST(model({&w}, {&o}) == nullptr);
  BOOST_TEST(model({&w}, {&a, &o}) == nullptr);
  BOOST_TEST(model({&o}, {&s}) == nullptr);
  BOOST_TEST(model({&s}, {&o}) == &o.h);
  BOOST_TEST(model({&s}, {&t}) == nullptr);
  a.h.device.id = 1;
  BOOST_TEST(model({&w, &a}) == nullptr);
}

BOOST_AUTO_TEST_CASE(overlap) {
  Strided memory(Dtype::float32, {10});
  const auto make = [&](ArrayHeader& h, std::int64_t first, std::int64_t n, std::int64_t step,
                        Dtype t = Dtype::float32) {
    h.dtype = t;
    h.size = n;
    h.data = memory.data() + 4 * first;
    h.shape = {n};
    h.strides = {4 * step};
    h.c_contiguous = step == 1;
  };
  ArrayHeader a, b;
  make(a, 0, 9, 1);
  make(b, 1, 9, 1);
  BOOST_TEST(overlaps(a, b));
  BOOST_TEST(!overlaps(a, a));
  make(b, 8, 9, -1);
  BOOST_TEST(overlaps(a, b));
  make(a, 0, 5, 1);
  make(b, 5, 5, 1);
  BOOST_TEST(!overlaps(a, b));
  make(b, 0, 5, 1, Dtype::int32);
  BOOST_TEST(!overlaps(a, b));  // one view, one itemsize: converted in place
  make(b, 0, 5, 1, Dtype::float64);
  BOOST_TEST(overlaps(a, b));
  make(b, 0, 0, 1);
  BOOST_TEST(!overlaps(a, b));
  make(a, 0, 5, 2);
  make(b, 1, 4, 2);
  BOOST_TEST(!overlaps(a, b));  // interleaved
  BOOST_TEST((ranges_meet(a, b) && !share_bytes(a, b)));
}

BOOST_AUTO_TEST_CASE(merging_axes) {
  Shape loop{2, 3, 4};
  Strides s[2] = {{48, 16, 4}, {48, 16, 4}};
  BOOST_TEST(merge_axes(loop, s) == 1);
  BOOST_TEST(loop == Shape{24});
  BOOST_TEST(s[0] == Strides{4});
  loop = {2, 1, 3, 4};
  s[0] = {48, 99, 16, 4};
  s[1] = {0, 99, 16, 4};
  BOOST_TEST(merge_axes(loop, s) == 2);
  BOOST_TEST(loop == (Shape{2, 12}));
  BOOST_TEST(s[1] == (Strides{0, 4}));
  loop = {1, 1};
  s[0] = s[1] = {4, 4};
  BOOST_TEST(merge_axes(loop, s) == 0);
}

}  // namespace
