// Indices out of range, and index arrays that do not fit: on the CPU always errors, on devices errors when they are
// told to check, in graphs too.
#include <catena/ndarray/routines/indexing.h>

#include <functional>
#include <optional>

#include <catena/ndarray/cuda/runtime/graph.h>
#include <catena/ndarray/device/stream.h>
#include <catena/ndarray/engine/index_check.h>
#include <catena/tests/support/ndarray_values.h>

namespace {

using nd::Array;
using nd::ellipsis;
using nd::newaxis;
using nd::Slice;
using test::difference;
using test::message_of;
using test::same_bits;

bool on_cpu() { return nd::current_device().kind == nd::Device::Kind::cpu; }

}  // namespace

BOOST_AUTO_TEST_SUITE(indexing_range)

// Calls f, which reads or writes with an index out of range: the error is thrown by f on the CPU, by the next call that
// waits on a device that checks.
template <class F> std::string index_error_of(const F& f) {
  const nd::IndexCheckScope checks(true);
  return message_of<nd::IndexError>([&] {
    f();
    if (!on_cpu()) nd::synchronize(nd::current_device());
  });
}

BOOST_AUTO_TEST_CASE(indices_out_of_range) {
  Array a = nd::arange(12).reshape(3, 4);
  const Array before = a.copy(), i = nd::array({0, 7, 9}), j = nd::array({1, -5, 0}), fine = nd::array({0, 1, -3}),
              mask = nd::array({true, false, true}), cube = nd::zeros({2, 3, 4});
  const auto says = [](const char* op, std::int64_t index, int axis, std::int64_t length) {
    return catena::concat(op, ": the index ", index, " is out of range for axis ", axis, " of length ", length);
  };
  struct Case {
    std::string message;
    std::function<void()> run;
  };
  const Case reads[] = {
      {says("index", 7, 0, 3), [&] { Array(a(i)); }},
      {says("index", -5, 1, 4), [&] { Array(a(fine, j)); }},
      {says("index", -5, 1, 4), [&] { Array(a(Slice(), j)); }},
      {says("index", 4, 1, 4), [&] { Array(a(fine, 4)); }},
      {says("index", -4, 0, 3), [&] { Array(a(-4, fine)); }},
      {says("index", 7, 2, 4), [&] { Array(cube(1, newaxis, ellipsis, nd::array({7}))); }},
      {says("index", 7, 2, 4),
       [&] {
         Array(cube(nd::ones({2, 3}, nd::bool_), nd::array(7)));
       }},
      {says("index", 7, 0, 3), [&] { Array(a(nd::array(true), nd::array(7))); }},
      {says("index", 7, 1, 4),
       [&] {
         Array(a(mask, nd::array({7, 7})));
       }},
      {says("index", 7, 0, 3), [&] { Array(a(std::vector<std::int64_t>{7})); }},
      {says("take", 12, 0, 12), [&] { nd::take(a, 12); }},
      {says("take", 4, 1, 4),
       [&] {
         nd::take(a, {0, 4}, {.axis = -1});
       }},
      {says("take_along_axis", 3, 0, 3),
       [&] {
         nd::take_along_axis(a, nd::array({{0, 1, 3, 2}}), 0);
       }},
  };
  for (const Case& c : reads) BOOST_TEST(index_error_of(c.run) == c.message);
  const Array out = nd::full({3}, 7, nd::int64);
  const Case writes[] = {
      {says("assignment", 7, 0, 3), [&] { a(i) = 1; }},
      {says("assignment", -5, 1, 4), [&] { a(fine, j) = 1; }},
      {says("assignment", 4, 1, 4), [&] { a(fine, 4) = 1; }},
      {says("index", 7, 0, 3), [&] { a(i) += 1; }},
      {says("scatter_add", 7, 0, 3), [&] { nd::scatter_add(a, i, 1.5); }},
      {says("scatter_add", -5, 1, 4), [&] { nd::scatter_add(a, j, 1, 1); }},
      {says("take", 12, 0, 12),
       [&] {
         nd::take(a, {0, 1, 12}, {.out = out});
       }},
  };
  for (const Case& c : writes) {
    BOOST_TEST(index_error_of(c.run) == c.message);
    if (!on_cpu()) continue;  // there the elements are written with the indices wrapped
    CHECK_SAME(difference(a, before), c.message);
    CHECK_SAME(difference(out, nd::full({3}, 7, nd::int64)), c.message);
  }
}

// The last of many indices, at any place in the pieces in which they are looked at; indices that are views.
BOOST_AUTO_TEST_CASE(one_index_out_of_range_among_many) {
  const Array a = nd::arange(5);
  for (nd::Dtype t : {nd::int8, nd::uint8, nd::int16, nd::uint16, nd::int32, nd::uint32, nd::int64, nd::uint64}) {
    for (const std::int64_t n : {1, 3, 70, 1000, 200000}) {
      for (const std::int64_t at : {std::int64_t(0), n / 2, n - 1}) {
        const Array i = nd::full({n}, 4, t);
        nd::take(a, i);
        i(at) = 5;
        BOOST_TEST(
            index_error_of([&] { nd::take(a, i); }) == "take: the index 5 is out of range for axis 0 of length 5",
            t << ' ' << n << ' ' << at);
        if (!on_cpu()) break;
      }
    }
  }
  // A broadcast, a strided and a transposed view: elements that lie between those of a view do not count.
  const Array table = nd::zeros({4, 6}, nd::int32);
  table(Slice(), Slice(1, {}, 2)) = 9;
  nd::take(a, table(Slice(), Slice(0, {}, 2)));
  nd::take(a, table(Slice(), Slice(0, {}, 2)).T());
  Array(a.reshape(5, 1)(table(Slice(), 0), nd::zeros({3, 1}, nd::int64)));
  table(3, 4) = -6;
  for (const Array& view : {table(Slice(), Slice(0, {}, 2)), table(Slice(), Slice(0, {}, 2)).T(),
                            table(Slice({}, {}, -1), Slice(0, {}, 2))})
    BOOST_TEST(index_error_of([&] { nd::take(a, view); }) ==
               "take: the index -6 is out of range for axis 0 of length 5");
  if (!on_cpu()) return;
  // Of several the first in C order.
  BOOST_TEST(index_error_of([&] {
               nd::take(a, nd::array({{1, 2}, {-8, 0}, {9, 4}}).T());
             }) == "take: the index -8 is out of range for axis 0 of length 5");
}

BOOST_AUTO_TEST_CASE(selections_without_elements_check_nothing) {
  const Array a = nd::zeros({5, 0}), i = nd::array({7}), none = nd::zeros({0}, nd::int64);
  const std::string no_error = index_error_of([&] {
    BOOST_TEST(Array(a(i)).shape() == (nd::Shape{1, 0}));
    a(i) = 1;
    nd::scatter_add(a, i, 1);
    BOOST_TEST(nd::take(a, i, {.axis = 0}).shape() == (nd::Shape{1, 0}));
    BOOST_TEST(Array(nd::zeros(3)(none)).shape() == nd::Shape{0});
    BOOST_TEST(Array(nd::zeros({3, 3})(nd::zeros({0, 1}, nd::int64), i)).shape() == (nd::Shape{0, 1}));
    if (on_cpu()) throw nd::IndexError("no error");
    // Devices: an error that is really there.
    nd::take(nd::zeros(3), i);
  });
  BOOST_TEST(no_error == (on_cpu() ? "no error" : "take: the index 7 is out of range for axis 0 of length 3"));
}

// On a device, indices wrap. With checks on, the error comes from whatever waits next, once, and work goes on.
BOOST_AUTO_TEST_CASE(devices_check_when_they_are_told) {
  BOOST_TEST(!nd::checks_indices());
  if (on_cpu()) return;
  const Array a = nd::arange(3), i = nd::array({0, 7});
  CHECK_SAME(difference(nd::take(a, i), nd::array({0, 1})), "wraps");
  const std::string message = "take: the index 7 is out of range for axis 0 of length 3";
  const nd::Stream stream({.non_blocking = true});
  const nd::Event event;
  const std::function<void(const Array&)> waits[] = {
      [](const Array& y) { y(0).item<int>(); },
      [](const Array& y) { y.to_vector<int>(); },
      [](const Array& y) { y.to_device(nd::cpu_device); },
      [](const Array& y) { nd::synchronize(y.device()); },
      [&](const Array&) {
        stream.record(event);
        event.synchronize();
      },
      [&](const Array&) { stream.synchronize(); },
  };
  for (const auto& wait : waits) {
    const nd::StreamScope on(stream);
    stream.synchronize();
    const nd::IndexCheckScope checks(true);
    const Array y = nd::take(a, i);
    BOOST_TEST(message_of<nd::IndexError>([&] { wait(y); }) == message);
    wait(y);
    CHECK_SAME(difference(y, nd::array({0, 1})), "wrapped after the error");
  }
  {
    const nd::IndexCheckScope checks(true);
    CHECK_SAME(difference(nd::take(a, nd::array({2, -3})), nd::array({2, 0})), "in range");
    const nd::IndexCheckScope none(false);
    nd::take(a, i).to_vector<int>();
  }
  BOOST_TEST(!nd::checks_indices());
}

// A graph contains the checks that were on when it was captured, and finds what is wrong in a later run.
BOOST_AUTO_TEST_CASE(graphs_check_their_indices) {
  BOOST_TEST(!nd::checks_indices());
  if (on_cpu()) return;
  const Array a = nd::arange(3), i = nd::array({0, 1}), y = nd::zeros({2}, nd::int64);
  std::optional<nd::cuda::Graph> graph;
  {
    const nd::IndexCheckScope checks(true);
    graph.emplace([&] { nd::take(a, i, {.out = y}); });
  }
  nd::synchronize(a.device());
  i.fill(-4);
  graph->replay();
  BOOST_TEST(message_of<nd::IndexError>([&] { nd::synchronize(a.device()); }) ==
             "take: the index -4 is out of range for axis 0 of length 3");
  i.fill(2);
  graph->replay();
  CHECK_SAME(difference(y, nd::array({2, 2})), "after the error");
}

BOOST_AUTO_TEST_CASE(index_array_errors) {
  const Array a = nd::zeros({2, 3});
  BOOST_TEST(message_of<nd::IndexError>([&] { a(nd::array({0.0})).get(); }) ==
             "index: index arrays must be of an integer dtype, not float64");
  BOOST_TEST(message_of<nd::IndexError>([&] { nd::take(a, nd::zeros(0, nd::float32)); }) ==
             "take: index arrays must be of an integer dtype, not float32");
  BOOST_TEST(message_of<nd::IndexError>([&] { a(nd::zeros(2, nd::int64), nd::zeros(3, nd::int64)).get(); }) ==
             "index: shapes (2,) and (3,) do not match: lengths 2 and 3 on axis -1 are neither equal nor 1");
  BOOST_TEST(message_of<nd::IndexError>([&] { a(nd::array({0}), 0, 0).get(); }) ==
             "index: 3 indices are too many for an array of rank 2");
  const Array number = nd::array(1.0);
  BOOST_CHECK_THROW(nd::scatter_add(number, nd::array({0}), 1), nd::IndexError);
  BOOST_CHECK_THROW(number(nd::array({0})) = 1, nd::IndexError);
  BOOST_TEST(number.item<double>() == 1);
  BOOST_TEST(message_of<nd::IndexError>([&] {
               nd::zeros({0, 3})(nd::array({0})).get();
             }) == "index: an axis of length 0 has no elements for indices of shape (1,)");
  BOOST_TEST(nd::getitem(nd::zeros({0, 3}), {nd::zeros(0, nd::int32)}).shape() == (nd::Shape{0, 3}));
  // A 0-d array has no axis to index, whatever the indices are.
  for (const Array& i : {nd::array({0}), nd::array(0), nd::zeros({0}, nd::int32)}) {
    const Array scalar = nd::zeros({});
    BOOST_TEST(message_of<nd::IndexError>([&] { scalar(i).get(); }) ==
               "index: 1 indices are too many for an array of rank 0");
    BOOST_TEST(message_of<nd::IndexError>([&] { scalar(i) = 1; }) ==
               "assignment: 1 indices are too many for an array of rank 0");
    BOOST_TEST(message_of<nd::IndexError>([&] { nd::scatter_add(scalar, i, 1); }) ==
               "scatter_add: 1 indices are too many for an array of rank 0");
    BOOST_CHECK_THROW(scalar(newaxis, i).get(), nd::IndexError);
    BOOST_TEST(scalar.item<int>() == 0);
  }
  BOOST_TEST(message_of<nd::IndexError>([&] { nd::take(a, nd::ones(2, nd::bool_)); }) ==
             "take: index arrays must be of an integer dtype, not bool");
  BOOST_CHECK_THROW(nd::take(a, Array()), nd::TypeError);
}

BOOST_AUTO_TEST_SUITE_END()
