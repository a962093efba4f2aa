// Bools whose bytes are other numbers than 0 and 1, as a view of another dtype has them: every byte but 0 is true, and
// a view gives what its copy gives.
#include <boost/test/unit_test.hpp>

#include <catena/kernels/registry/kernel.h>
#include <catena/ndarray/ndarray.h>
#include <catena/tests/support/ndarray_values.h>

namespace {

using nd::Array;
using nd::Slice;
using test::difference;

BOOST_AUTO_TEST_SUITE(bool_bytes)

// The same truth values as bytes 0 to 255, and as 0 and 1.
struct Bools {
  Array bytes, plain;
};
Bools bools(const nd::Shape& shape, int step) {
  const Array numbers = (nd::arange(catena::size_of(shape)) * step % 7 * 37 % 256).astype(nd::uint8).reshape(shape);
  return {numbers.view(nd::bool_), numbers != 0};
}

// Calls compare(name of the layout, length, a and b in that layout, the same truth values as 0 and 1).
template <class F> void for_each_layout(const F& compare) {
  for (const std::int64_t n : {1, 5, 64, 1000}) {
    // The kernels of a device depend on the layout; lengths decide on how much is loaded at once.
    if (nd::current_device().kind != nd::Device::Kind::cpu && (n == 1 || n == 1000)) continue;
    const Bools a = bools({2, 2 * n}, 3), b = bools({2, 2 * n}, 5);
    const auto in = [&](const char* layout, const auto& part) {
      compare(layout, n, Bools{part(a.bytes), part(a.plain)}, Bools{part(b.bytes), part(b.plain)});
    };
    in("contiguous", [](const Array& x) { return x; });
    in("every second", [](const Array& x) { return x(Slice(), Slice({}, {}, 2)); });
    in("reversed", [](const Array& x) { return x(Slice(), Slice({}, {}, -1)); });
    in("transposed", [](const Array& x) { return x.T(); });
    in("repeated", [](const Array& x) { return nd::broadcast_to(x(0, 1), {300}); });
    in("one row", [](const Array& x) { return nd::broadcast_to(x(1), x.shape()); });
  }
}

template <class F> void check(const char* what, const F& f) {
  for_each_layout([&](const char* layout, std::int64_t n, const Bools& a, const Bools& b) {
    CHECK_SAME(difference(f(a.bytes, b.bytes), f(a.plain, b.plain)), what << ", " << layout << ", " << n);
  });
}

// Every elementwise function with a loop for bools gives of a view what it gives of a copy with the same bytes.
BOOST_AUTO_TEST_CASE(views_and_copies) {
  int tested = 0;
  for (const catena::RegisteredKernel& kernel : catena::all_kernels()) {
    const catena::KernelDef& def = *kernel.kernel;
    if (kernel.use == catena::KernelUse::internal || def.kind != catena::KernelKind::elementwise || def.raw != 0)
      continue;
    if (def.nin > 2 || def.ninout != 0 || def.nout != 1 || def.loop_of(nd::bool_) < 0) continue;
    const nd::ufunc f(def.name);
    const auto call = [&](const Array& x, const Array& y) { return def.nin == 1 ? f(x) : f(x, y); };
    for_each_layout([&](const char* layout, std::int64_t n, const Bools& a, const Bools& b) {
      CHECK_SAME(difference(call(a.bytes, b.bytes), call(a.bytes.copy(), b.bytes.copy())),
                 def.name << ", " << layout << ", " << n);
      CHECK_SAME(difference(call(a.bytes, b.bytes(nd::ellipsis, Slice(0, 1))),
                            call(a.bytes.copy(), b.bytes(nd::ellipsis, Slice(0, 1)).copy())),
                 def.name << " with one value, " << layout << ", " << n);
    });
    ++tested;
  }
  BOOST_TEST(tested > 15);
}

BOOST_AUTO_TEST_CASE(functions_of_bools) {
  check("add", [](const Array& x, const Array& y) { return x + y; });
  check("multiply", [](const Array& x, const Array& y) { return x * y; });
  check("logical_and", [](const Array& x, const Array& y) { return nd::logical_and(x, y); });
  check("logical_or", [](const Array& x, const Array& y) { return nd::logical_or(x, y); });
  check("logical_xor", [](const Array& x, const Array& y) { return nd::logical_xor(x, y); });
  check("logical_not", [](const Array& x, const Array&) { return nd::logical_not(x); });
  check("where", [](const Array& x, const Array& y) { return nd::where(x, nd::array(2.5), nd::where(y, 1., 3.)); });
  check("where of numbers", [](const Array& x, const Array& y) {
    return nd::where(x, x.astype(nd::float32) * 0 + 4, y.astype(nd::float32) * 0 - 1);
  });
  check("all", [](const Array& x, const Array&) { return nd::all(x, {.axis = 0}); });
  check("any", [](const Array& x, const Array& y) { return nd::any(nd::logical_and(x, y), {.axis = -1}); });
  check("count", [](const Array& x, const Array&) { return nd::array(nd::count_nonzero(x)); });
  check("nonzero", [](const Array& x, const Array&) { return nd::flatnonzero(x); });
  check("sum", [](const Array& x, const Array&) { return nd::sum(x, {.axis = 0}); });
  check("sum as float32", [](const Array& x, const Array&) { return nd::sum(x, {.dtype = nd::float32}); });
  check("prod", [](const Array& x, const Array&) { return nd::prod(x, {.axis = -1}); });
  check("mean", [](const Array& x, const Array&) { return nd::mean(x, {.axis = 0}); });
  check("amax", [](const Array& x, const Array&) { return nd::amax(x, {.axis = -1}); });
  check("amin", [](const Array& x, const Array&) { return nd::amin(x, {.axis = 0}); });
  check("argmin", [](const Array& x, const Array&) { return nd::argmin(x, {.axis = 0}); });
  check("sort", [](const Array& x, const Array&) { return nd::sort(x, {.axis = -1}); });
  check("argmax", [](const Array& x, const Array&) { return nd::argmax(x, {.axis = -1}); });
  check("cumsum", [](const Array& x, const Array&) { return nd::cumsum(x, {.axis = 0}); });
  check("conversion", [](const Array& x, const Array&) { return x.astype(nd::int32); });
  check("fused", [](const Array& x, const Array& y) {
    return nd::fuse([](auto p, auto q) { return nd::logical_and(p, q); })(x, y);
  });
}

BOOST_AUTO_TEST_CASE(products_and_positions) {
  const Bools a = bools({40, 30}, 3), b = bools({40, 30}, 5), line = bools({30}, 5);
  CHECK_SAME(difference(nd::matmul(a.bytes, b.bytes.T()), nd::matmul(a.plain, b.plain.T())), "matmul");
  CHECK_SAME(
      difference(nd::matmul(a.bytes(Slice({}, {}, 2)), line.bytes), nd::matmul(a.plain(Slice({}, {}, 2)), line.plain)),
      "with a vector");
  const Array sorted = nd::array({false, true, true});
  CHECK_SAME(difference(nd::searchsorted(sorted, line.bytes), nd::searchsorted(sorted, line.plain)), "searchsorted");
  const Array bytes = nd::array({0, 2, 255}, {.dtype = nd::uint8}).view(nd::bool_);
  CHECK_SAME(difference(nd::searchsorted(bytes, line.plain), nd::searchsorted(sorted, line.plain)), "searchsorted in");
}

BOOST_AUTO_TEST_CASE(elements_and_masks) {
  const Bools b = bools({20}, 3);
  for (std::int64_t k = 0; k < 20; ++k) {
    const bool expected = b.plain(k).item<bool>();
    const bool one = b.bytes(k).item<bool>();
    BOOST_TEST((one ? 10 : 20) == (expected ? 10 : 20));
    BOOST_TEST(static_cast<int>(reinterpret_cast<const unsigned char&>(one)) == int(expected));
    BOOST_TEST(bool(b.bytes(k)) == expected);
  }
  BOOST_TEST(b.bytes.to_vector<bool>() == b.plain.to_vector<bool>(), boost::test_tools::per_element());
  const Array numbers = nd::arange(20);
  CHECK_SAME(difference(numbers(b.bytes), numbers(b.plain)), "mask");
  // Sums by index are 0 and 1 again.
  const Array sums = b.bytes.copy();
  nd::scatter_add(sums, nd::array({3, 3, 4}), b.bytes(Slice(0, 3)));
  BOOST_TEST(sums.view(nd::uint8)(Slice(3, 5)).to_vector<int>() == (std::vector<int>{1, 1}));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
