// The promises of the call layer for every call: memory that work on one stream still uses is not given to another,
// graphs keep what they use alive, and operations run on the device of their arrays, whatever the current one is. The
// software device executes nothing before something needs it, so work that was enqueued "still runs" until its stream
// is waited for.
#include <boost/test/unit_test.hpp>

#include <cstdio>
#include <functional>
#include <optional>
#include <vector>

#include <catena/ndarray/cuda/runtime/graph.h>
#include <catena/ndarray/ndarray.h>
#include <catena/tests/support/cuda_device/control.h>
#include <catena/tests/support/ndarray_values.h>

namespace {

using nd::Array;

constexpr std::int64_t kLength = 100000;  // above the small blocks that a thread keeps for itself
constexpr nd::Device kSecond{nd::Device::Kind::cuda, 1};

// Arrays live on one stream, `work` is enqueued on another and drops them; then their memory is asked for again and
// written on the first stream, before the work has run. What was written must be there afterwards.
void drop_while_in_use(const char* what, const std::function<void(Array a, Array b)>& work) {
  BOOST_TEST_CONTEXT(what) {
    const nd::Stream home({.non_blocking = true}), other({.non_blocking = true});
    nd::memory_pool().free_all_blocks();
    {
      Array a, b;
      {
        const nd::StreamScope on(home);
        a = nd::full({kLength}, 3.f);
        b = nd::full({kLength}, 4.f);
        home.synchronize();
      }
      const nd::StreamScope on(other);
      work(std::move(a), std::move(b));
    }
    std::vector<Array> taken;
    {
      const nd::StreamScope on(home);
      for (int k = 0; k < 4; ++k) taken.push_back(nd::full({kLength}, 10.f + float(k)));
      home.synchronize();
    }
    other.synchronize();
    const nd::StreamScope on(home);
    for (int k = 0; k < 4; ++k)
      BOOST_TEST(nd::all(taken[std::size_t(k)] == 10.f + float(k)).item<bool>(), "array " << k);
  }
}

// The same for what is read: the result must be that of the elements as they were.
void read_after_drop(const char* what, const std::function<Array(Array a)>& work, float expected) {
  BOOST_TEST_CONTEXT(what) {
    const nd::Stream home({.non_blocking = true}), other({.non_blocking = true});
    nd::memory_pool().free_all_blocks();
    Array result;
    {
      Array a;
      {
        const nd::StreamScope on(home);
        a = nd::full({kLength}, 3.f);
        home.synchronize();
      }
      const nd::StreamScope on(other);
      result = work(std::move(a));
    }
    {
      const nd::StreamScope on(home);
      std::vector<Array> taken;
      for (int k = 0; k < 4; ++k) taken.push_back(nd::full({kLength}, 50.f));
      home.synchronize();
    }
    other.synchronize();
    const nd::StreamScope on(other);
    BOOST_TEST(nd::all(result == expected).item<bool>());
  }
}

BOOST_AUTO_TEST_SUITE(call_layer)

BOOST_AUTO_TEST_CASE(memory_that_is_written_is_not_given_away) {
  drop_while_in_use("fill", [](Array a, Array) { a.fill(7); });
  drop_while_in_use("assignment of a number", [](Array a, Array) { a(nd::Slice(0, kLength, 2)) = 7; });
  drop_while_in_use("contiguous copy", [](Array a, Array b) { nd::copyto(a, b); });
  drop_while_in_use("conversion", [](Array a, Array b) { nd::copyto(a, b.astype(nd::float64)); });
  drop_while_in_use("operation in place", [](Array a, Array b) { a += b; });
  drop_while_in_use("reduction into an output", [](Array a, Array b) {
    nd::sum(nd::stack({b, b}), {.axis = 0, .out = a});
  });
  drop_while_in_use("scatter", [](Array a, Array) { a(std::vector<std::int64_t>{1, 2, 3}) = 7; });
  drop_while_in_use("user kernel", [](Array a, Array b) {
    const nd::ElementwiseKernel twice("float32 x", "float32 y", "y = 2 * x", "call_layer_twice");
    const nd::Operand operands[] = {b, a};
    twice.call(operands);
  });
}

// The stream that a raw kernel is given counts, not the current one.
BOOST_AUTO_TEST_CASE(raw_kernels_use_memory_on_their_own_stream) {
  const nd::Stream home({.non_blocking = true}), other({.non_blocking = true});
  const nd::RawKernel kernel(
      "extern \"C\" __global__ void seven(float* x, long long n) { for (long long i = blockIdx.x * blockDim.x + "
      "threadIdx.x; i < n; "
      "i += gridDim.x * blockDim.x) x[i] = 7; }",
      "seven");
  kernel.compile();
  nd::memory_pool().free_all_blocks();
  {
    const nd::StreamScope on(home);
    Array a = nd::full({kLength}, 3.f);
    home.synchronize();
    kernel({16}, {128}, {a, static_cast<long long>(kLength)}, {.stream = other});
  }
  const nd::StreamScope on(home);
  const Array taken = nd::full({kLength}, 10.f);
  home.synchronize();
  other.synchronize();
  BOOST_TEST(nd::all(taken == 10.f).item<bool>());
}

BOOST_AUTO_TEST_CASE(memory_that_is_read_is_not_given_away) {
  read_after_drop(
      "contiguous copy", [](Array a) { return a.copy(); }, 3);
  read_after_drop(
      "assignment",
      [](Array a) {
        const Array b = nd::empty({kLength}, {.dtype = nd::float32});
        nd::copyto(b, a);
        return b;
      },
      3);
  read_after_drop(
      "operation", [](Array a) { return a * 2.f; }, 6);
  read_after_drop(
      "gather", [](Array a) { return nd::take(a, nd::arange(kLength)); }, 3);
  read_after_drop(
      "sort", [](Array a) { return nd::sort(a); }, 3);
  read_after_drop(
      "fused function", [](Array a) { return nd::fuse([](auto x) { return x * 2.f + 1.f; })(a); }, 7);
}

// A graph that was recorded keeps the arrays that it reads and writes, whatever it does with them.
BOOST_AUTO_TEST_CASE(graphs_keep_what_they_use) {
  const Array copied = nd::zeros({kLength}, {.dtype = nd::float32});
  std::optional<nd::cuda::Graph> copy, fill;
  {
    const Array source = nd::full({kLength}, 5.f);
    copy.emplace([&] { nd::copyto(copied, source); });
  }
  {
    const Array target = nd::full({kLength}, 5.f);
    fill.emplace([&] { target.fill(9); });
  }
  nd::synchronize(nd::current_device());
  std::vector<Array> others;  // would be given the memory of both
  for (int k = 0; k < 4; ++k) others.push_back(nd::full({kLength}, -1.f));
  copied.fill(0);
  copy->replay();
  fill->replay();
  BOOST_TEST(nd::all(copied == 5.f).item<bool>());
  for (const Array& o : others) BOOST_TEST(nd::all(o == -1.f).item<bool>());
}

// 0 to length - 1 on a device that is not the current one; a null array if there is only one device.
Array on_second_device(std::int64_t length = 10) {
  if (nd::device_count(nd::Device::Kind::cuda) < 2) {
    std::printf("skipped: there is only one device\n");
    return {};
  }
  const nd::DeviceScope on(kSecond);
  return nd::arange(0, length, 1, {.dtype = nd::float32});
}

BOOST_AUTO_TEST_CASE(index_vectors_go_to_the_device_of_the_array) {
  const Array a = on_second_device();
  if (a.is_null()) return;
  BOOST_TEST(!(nd::current_device() == kSecond));
  const Array picked = a(std::vector<std::int64_t>{1, 3});
  BOOST_TEST((picked.device() == kSecond));
  BOOST_TEST(picked.to_vector<float>() == (std::vector<float>{1, 3}), boost::test_tools::per_element());
  const Array masked = a(std::vector<bool>{true, false, true, false, false, false, false, false, false, false});
  BOOST_TEST(masked.to_vector<float>() == (std::vector<float>{0, 2}), boost::test_tools::per_element());
  a(std::vector<std::int64_t>{0, 2}) = 8;
  BOOST_TEST(a(2).item<float>() == 8);
  nd::scatter_add(a, std::vector<std::int64_t>{2, 2}, 1.f);
  BOOST_TEST(a(2).item<float>() == 10);
}

BOOST_AUTO_TEST_CASE(where_runs_on_the_device_of_its_arrays) {
  const Array a = on_second_device();
  if (a.is_null()) return;
  const Array chosen = nd::where(true, a, 0.f);
  BOOST_TEST((chosen.device() == kSecond));
  BOOST_TEST(nd::all(chosen == a).item<bool>());
}

// An array that is derived from another one is on its device, with another device as the current one.
BOOST_AUTO_TEST_CASE(results_are_on_the_device_of_their_arrays) {
  const Array a = on_second_device(12);
  if (a.is_null()) return;
  const Array m = a.reshape(3, 4), mask = m > 2.f;
  const std::vector<std::pair<const char*, Array>> results = {
      {"copy", a.copy()},
      {"copy of a transposed view", m.T().copy()},
      {"copy in F order", m.copy(nd::Order::F)},
      {"unary plus", +a},
      {"flatten", m.flatten()},
      {"astype", a.astype(nd::int32)},
      {"imaginary part", nd::imag(a)},
      {"diag", nd::diag(a)},
      {"diagflat", nd::diagflat(m)},
      {"meshgrid", nd::meshgrid({a, a})[1]},
      {"sum", nd::sum(m, {.axis = 0})},
      {"variance", nd::var(m, {.axis = 1})},
      {"matrix product", nd::matmul(m, m.T())},
      {"sort", nd::sort(m)},
      {"nonzero", nd::nonzero(m)[0]},
      {"mask", Array(m(mask))},
      {"cumsum", nd::cumsum(m, {.axis = 1})},
      {"tile", nd::tile(m, 2)},
      {"pad", nd::pad(m, 1, "constant")},
      {"concatenate", nd::concatenate({m, m})},
      {"choose", nd::choose(mask.astype(nd::int32), {m, m})},
      {"clip", nd::clip(m, 1.f, 2.f)},
      {"fused", nd::fuse([](auto x) { return x * 2.f + 1.f; })(m)},
  };
  for (const auto& [what, result] : results) {
    BOOST_TEST((result.device() == kSecond), what);
    BOOST_TEST(!result.shares_memory(a), what);
    const Array host = result.to_device(nd::cpu_device);
    BOOST_TEST(host.size() == result.size(), what);
  }
  BOOST_TEST(nd::all(a.copy() == a).item<bool>());
  // Constructors put their arrays on the current device.
  BOOST_TEST((nd::array(a).device() == nd::current_device()));
  BOOST_TEST((nd::array(a, {.dtype = nd::int32}).device() == nd::current_device()));
  BOOST_TEST(nd::array(a).to_vector<float>() == a.to_vector<float>(), boost::test_tools::per_element());
  BOOST_TEST(nd::array(a, {.copy = false}).get() == a.get());
}

BOOST_AUTO_TEST_CASE(mixed_devices_are_an_error_that_names_both) {
  const Array there = on_second_device();
  if (there.is_null()) return;
  const Array here = nd::zeros({10}, nd::float32), index = nd::array({1, 2}), mask = nd::ones({10}, nd::bool_);
  Array in_place = here;
  const std::string rule = "; all arrays of an operation must be on one device";
  const std::vector<std::pair<const char*, std::function<void()>>> operations = {
      {"a + b", [&] { here + there; }},
      {"a += b", [&] { in_place += there; }},
      {"a(keys) = b", [&] { here(nd::Slice(0, 10)) = there; }},
      {"a(keys) = number from elsewhere", [&] { here(nd::Slice(0, 10)) = there(0); }},
      {"a(keys) += b", [&] { here(nd::Slice(0, 5)) += there(nd::Slice(0, 5)); }},
      {"a(indices) = b", [&] { here(index) = there(nd::Slice(0, 2)); }},
      {"a(mask) = b", [&] { here(mask) = there; }},
      {"indices on the other device", [&] { Array(there(index)); }},
      {"mask on the other device", [&] { Array(there(mask)); }},
      {"mask that selects nothing", [&] { Array(there(nd::zeros({10}, nd::bool_))); }},
      {"assignment by a mask on the other device", [&] { there(mask) = 1.f; }},
      {"scatter_add", [&] { nd::scatter_add(here, index, there(nd::Slice(0, 2))); }},
      {"scatter_add to a slice", [&] { nd::scatter_add(here, {nd::Slice(0, 10)}, there); }},
      {"output", [&] { nd::add(there, there, {.out = here}); }},
      {"output of a sum", [&] { nd::sum(there, {.axis = 0, .out = here(0)}); }},
      {"concatenate",
       [&] {
         nd::concatenate({here, there});
       }},
      {"where", [&] { nd::where(mask, there, there); }},
      {"matmul", [&] { nd::matmul(here.reshape(2, 5), there.reshape(5, 2)); }},
      {"meshgrid",
       [&] {
         nd::meshgrid({here, there});
       }},
      {"take", [&] { nd::take(here, there.astype(nd::int64)); }},
      {"fused", [&] { nd::fuse([](auto x, auto y) { return x + y; })(here, there); }},
      {"where of copyto", [&] { nd::copyto(there, 1.f, {.where = mask}); }},
  };
  for (const auto& [what, f] : operations) {
    BOOST_TEST_CONTEXT(what) {
      const std::string message = test::message_of<nd::ValueError>(f);
      BOOST_TEST(message.find("arrays are on cuda:") != std::string::npos, message);
      BOOST_TEST((message.find("cuda:0") != std::string::npos && message.find("cuda:1") != std::string::npos), message);
      BOOST_TEST(message.ends_with(rule), message);
    }
  }
  BOOST_TEST(nd::all(here == 0.f).item<bool>());
  {
    const nd::DeviceScope on(kSecond);
    BOOST_TEST(nd::all(there == nd::arange(0, 10, 1, {.dtype = nd::float32})).item<bool>());
  }
}

// The software device knows on which stream a kernel was launched.
void check_stream(const nd::Stream& expected, const std::function<void()>& launch) {
  if (!cuda_device::Control::available()) return launch();
  cuda_device::Control device;
  device.reset_records();
  launch();
  const auto launches = device.launches();
  BOOST_TEST(!launches.empty());
  if (!launches.empty()) BOOST_TEST(launches.back().stream == expected.ptr());
}

// A raw kernel is no exception: it runs where its arrays are, on a stream of that device.
BOOST_AUTO_TEST_CASE(raw_kernels_run_on_the_device_of_their_arrays) {
  const Array there = on_second_device();
  if (there.is_null()) return;
  const nd::RawKernel add(
      "extern \"C\" __global__ void add_one(float* x, long long n) { for (long long i = threadIdx.x; i < n; i += "
      "blockDim.x) "
      "x[i] += 1; }",
      "add_one");
  const nd::RawKernel add_to(
      "extern \"C\" __global__ void add_to(float* x, const float* y, long long n) { for (long long i = threadIdx.x; i "
      "< n; i "
      "+= blockDim.x) x[i] += y[i]; }",
      "add_to");
  const auto ascending = [](float first) {
    std::vector<float> list(10);
    for (int k = 0; k < 10; ++k) list[std::size_t(k)] = first + float(k);
    return list;
  };
  const nd::Device first = nd::current_device();
  add(1, 32, {there, 10ll});
  BOOST_TEST((nd::current_device() == first));
  BOOST_TEST(there.to_vector<float>() == ascending(1), boost::test_tools::per_element());
  // The stream of the launch is the one that is current on the device of the arrays.
  const auto on_stream_there = [&] {
    const nd::DeviceScope scope(kSecond);
    return nd::Stream({.non_blocking = true});
  }();
  {
    const nd::StreamScope on(on_stream_there);
    check_stream(on_stream_there, [&] { add.linear_launch(10, {there, 10ll}); });
    BOOST_TEST(nd::all(there >= 2.f).item<bool>());
  }
  add(1, 32, {there, 10ll}, {.stream = on_stream_there});
  on_stream_there.synchronize();
  BOOST_TEST(!there.to_vector<float>().empty());
  {
    const nd::DeviceScope scope(kSecond);
    const Array here = nd::zeros({10}, nd::float32);
    const nd::DeviceScope back(first);
    const Array other = nd::ones({10}, nd::float32);
    for (const auto& f : {std::function<void()>([&] {
                            add_to(1, 32, {here, other, 10ll});
                          }),
                          std::function<void()>([&] {
                            add_to(1, 32, {other, here, 10ll});
                          }),
                          std::function<void()>([&] {
                            add_to.linear_launch(10, {other, here, 10ll});
                          })}) {
      const std::string message = test::message_of<nd::ValueError>(f);
      BOOST_TEST(message.starts_with("RawKernel add_to: arrays are on cuda:"), message);
      BOOST_TEST((message.find("cuda:0") != std::string::npos && message.find("cuda:1") != std::string::npos), message);
    }
    const std::string message = test::message_of<nd::ValueError>([&] {
      add_to(1, 32, {here, nd::zeros({10}, nd::float32).to_device(nd::cpu_device), 10ll});
    });
    BOOST_TEST((message.find("cpu:0") != std::string::npos && message.find("cuda:1") != std::string::npos), message);
    BOOST_TEST(nd::all(here == 0.f).item<bool>());
    // A stream of another device than that of the arrays.
    BOOST_CHECK_THROW(add(1, 32, {other, 10ll}, {.stream = on_stream_there}), nd::ValueError);
  }
  // An array without elements has a device, too, if no other argument tells.
  const Array empty = there(nd::Slice(0, 0));
  {
    const nd::StreamScope on(on_stream_there);
    check_stream(on_stream_there, [&] { add(1, 32, {empty, 0ll}); });
  }
}

BOOST_AUTO_TEST_CASE(copyto_and_to_device_transfer) {
  const Array there = on_second_device();
  if (there.is_null()) return;
  const std::vector<float> numbers = there.to_vector<float>();
  const Array here = nd::zeros({10}, nd::float32), wide = nd::zeros({2, 10}), columns = nd::zeros({10, 3}, nd::float32);
  nd::copyto(here, there);
  BOOST_TEST(here.to_vector<float>() == numbers, boost::test_tools::per_element());
  nd::copyto(wide, there);  // converted and broadcast
  BOOST_TEST(wide(1).to_vector<float>() == numbers, boost::test_tools::per_element());
  nd::copyto(columns(nd::Slice(), 1), there(nd::Slice({}, {}, -1)));
  BOOST_TEST(columns(nd::Slice({}, {}, -1), 1).to_vector<float>() == numbers, boost::test_tools::per_element());
  here.fill(-1);
  nd::copyto(here, there, {.where = nd::arange(10) < 3});
  BOOST_TEST(here(nd::Slice(0, 4)).to_vector<float>() == (std::vector<float>{0, 1, 2, -1}),
             boost::test_tools::per_element());
  BOOST_TEST(there.to_device(nd::cpu_device).to_vector<float>() == numbers, boost::test_tools::per_element());
}

// An output that overlaps an input needs a copy of it, which must be in the memory of that device.
BOOST_AUTO_TEST_CASE(fused_functions_copy_overlapping_inputs_on_the_device_of_the_arrays) {
  constexpr std::int64_t length = 1 << 20;  // its copy is a segment of its own in the pool
  const Array whole = on_second_device(length);
  if (whole.is_null()) return;
  Array front = whole(nd::Slice(0, length - 1));
  const Array back = whole(nd::Slice(1, length));
  nd::memory_pool().free_all_blocks();
  const std::size_t elsewhere = nd::memory_pool().total_bytes(0), here = nd::memory_pool().total_bytes(kSecond.id);
  nd::fuse([](auto& x, auto y) { x = y + 1.f; })(front, back);
  BOOST_TEST(nd::memory_pool().total_bytes(0) == elsewhere);
  BOOST_TEST(nd::memory_pool().total_bytes(kSecond.id) > here);
  std::vector<float> expected(std::size_t(length), float(length - 1));
  for (std::size_t k = 0; k + 1 < expected.size(); ++k) expected[k] = float(k + 2);
  BOOST_TEST((whole.to_vector<float>() == expected));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
