// NCCL with two ranks: one thread for both, and a thread for each. Against sums over the ranks here.
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <iostream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <catena/ndarray/cuda/vendor/nccl.h>
#include <catena/ndarray/ndarray.h>
#include <catena/tests/support/ndarray_values.h>

namespace {

using namespace nd::cuda;
using nd::Array;

bool have_two_ranks() {
  try {
    nccl();
  } catch (const catena::RuntimeError& e) {
    std::cout << "skipped: " << e.what() << "\n";
    return false;
  }
  if (nd::device_count(nd::Device::Kind::cuda) >= 2) return true;
  std::cout << "skipped: there are no two CUDA devices\n";
  return false;
}

nd::Device device_of(std::size_t rank) { return {nd::Device::Kind::cuda, static_cast<std::int16_t>(rank)}; }

// One array per rank, on its device.
template <class Make> std::vector<Array> of_ranks(Make make) {
  std::vector<Array> arrays;
  for (std::size_t r = 0; r < 2; ++r) {
    const nd::DeviceScope on(device_of(r));
    arrays.push_back(make(r));
  }
  return arrays;
}
template <class Call> void together(const std::vector<NcclCommunicator>& ranks, Call call) {
  NcclGroup group;
  for (std::size_t r = 0; r < ranks.size(); ++r) call(ranks[r], r);
  group.end();
}

double combined(NcclOp op, double a, double b) {
  switch (op) {
    case NcclOp::sum: return a + b;
    case NcclOp::prod: return a * b;
    case NcclOp::max: return std::max(a, b);
    case NcclOp::min: return std::min(a, b);
    default: return (a + b) / 2;
  }
}

constexpr nd::Dtype kDtypes[] = {nd::int8,   nd::uint8,   nd::int32,   nd::uint32,  nd::int64,
                                 nd::uint64, nd::float16, nd::float32, nd::float64, nd::bfloat16};

BOOST_AUTO_TEST_SUITE(device_nccl)

BOOST_AUTO_TEST_CASE(ranks_and_devices) {
  if (!have_two_ranks()) return;
  const std::vector<NcclCommunicator> ranks = NcclCommunicator::all({1, 0});
  BOOST_TEST(ranks[0].rank_id() == 0);
  BOOST_TEST(ranks[0].device_id() == 1);
  BOOST_TEST(ranks[1].rank_id() == 1);
  BOOST_TEST(ranks[1].device_id() == 0);
  BOOST_TEST(ranks[1].size() == 2);
  BOOST_CHECK_THROW(NcclCommunicator::all({0, 0}), nd::ValueError);
  BOOST_CHECK_THROW(NcclCommunicator::all({0, 99}), nd::ValueError);
}

BOOST_AUTO_TEST_CASE(reductions_of_every_dtype) {
  if (!have_two_ranks()) return;
  const std::vector<NcclCommunicator> ranks = NcclCommunicator::all({0, 1});
  for (const nd::Dtype dtype : kDtypes)
    for (const NcclOp op : {NcclOp::sum, NcclOp::prod, NcclOp::max, NcclOp::min, NcclOp::avg}) {
      const std::vector<std::vector<double>> values{{2, 4, 6}, {8, 2, 4}};
      const auto in = of_ranks([&](std::size_t r) { return nd::array(values[r], {.dtype = dtype}); });
      const auto out = of_ranks([&](std::size_t) { return nd::zeros({3}, dtype); });
      const auto at_root = of_ranks([&](std::size_t) { return nd::full({3}, 1, {.dtype = dtype}); });
      std::vector<double> expected;
      for (std::size_t k = 0; k < 3; ++k) expected.push_back(combined(op, values[0][k], values[1][k]));
      together(ranks, [&](const NcclCommunicator& c, std::size_t r) { c.all_reduce(in[r], out[r], op); });
      together(ranks, [&](const NcclCommunicator& c, std::size_t r) { c.reduce(in[r], at_root[r], 1, op); });
      BOOST_TEST_CONTEXT(dtype << " operation " << int(op)) {
        for (std::size_t r = 0; r < 2; ++r) test::check_values<double>(out[r], expected);
        test::check_values<double>(at_root[0], {1, 1, 1});  // not the root
        test::check_values<double>(at_root[1], expected);
      }
    }
}

BOOST_AUTO_TEST_CASE(broadcasts) {
  if (!have_two_ranks()) return;
  const std::vector<NcclCommunicator> ranks = NcclCommunicator::all({0, 1});
  for (int root = 0; root < 2; ++root) {
    const auto a = of_ranks([](std::size_t r) { return nd::arange(5) + int(10 * r); });
    together(ranks, [&](const NcclCommunicator& c, std::size_t r) { c.broadcast(a[r], root); });
    for (const Array& each : a)
      test::check_values<int>(each, {10 * root, 10 * root + 1, 10 * root + 2, 10 * root + 3, 10 * root + 4});
  }
  const Array here = nd::zeros({2}).to_device(device_of(0));
  BOOST_CHECK_THROW(ranks[0].broadcast(here, 2), nd::ValueError);
  BOOST_CHECK_THROW(ranks[1].broadcast(here, 0), nd::ValueError);  // on another device
}

// The work of a group is enqueued at its end. Until then nothing else gets the memory of its operands: of sums that are
// dropped at once, and of communicators that are.
BOOST_AUTO_TEST_CASE(a_group_keeps_its_arrays) {
  if (!have_two_ranks()) return;
  const std::vector<NcclCommunicator> ranks = NcclCommunicator::all({0, 1});
  const auto one = of_ranks([](std::size_t) { return nd::full({1000}, 1.f); });
  const auto out = of_ranks([](std::size_t) { return nd::zeros({1000}, nd::float32); });
  const auto all = of_ranks([](std::size_t) { return nd::zeros({2, 1000}, nd::float32); });
  std::vector<Array> others;
  {
    NcclGroup group;
    for (std::size_t r = 0; r < 2; ++r) {
      const nd::DeviceScope on(device_of(r));
      ranks[r].all_reduce(one[r] * 2, out[r]);
      ranks[r].all_gather(one[r] * float(5 + r), all[r]);
      for (int k = 0; k < 4; ++k) others.push_back(one[r] * 7);
    }
    group.end();
  }
  for (std::size_t r = 0; r < 2; ++r) {
    BOOST_TEST(nd::all(out[r] == 4).item<bool>());
    BOOST_TEST(nd::all(all[r](0) == 5).item<bool>());
    BOOST_TEST(nd::all(all[r](1) == 6).item<bool>());
  }
  for (const Array& each : others) BOOST_TEST(nd::all(each == 7).item<bool>());
  // A group inside of another one ends with that.
  {
    NcclGroup outer;
    {
      NcclGroup inner;
      for (std::size_t r = 0; r < 2; ++r) {
        const nd::DeviceScope on(device_of(r));
        ranks[r].all_reduce(one[r] * 3, out[r]);
      }
      inner.end();
    }
    for (std::size_t r = 0; r < 2; ++r) {
      const nd::DeviceScope on(device_of(r));
      others.push_back(one[r] * 8);
    }
    outer.end();
  }
  for (const Array& each : out) BOOST_TEST(nd::all(each == 6).item<bool>());
}

// In place, and what comes before and after on the streams of the ranks is in order.
BOOST_AUTO_TEST_CASE(streams_are_in_order) {
  if (!have_two_ranks()) return;
  const std::vector<NcclCommunicator> ranks = NcclCommunicator::all({0, 1});
  std::vector<nd::Stream> streams;
  for (std::size_t r = 0; r < 2; ++r) {
    const nd::DeviceScope on(device_of(r));
    streams.push_back(nd::Stream({.non_blocking = true}));
  }
  const nd::StreamScope first(streams[0]), second(streams[1]);
  const auto a = of_ranks([](std::size_t r) { return nd::full({1000}, double(r + 1)); });
  for (const Array& each : a) each(nd::ellipsis) *= 10;
  together(ranks, [&](const NcclCommunicator& c, std::size_t r) { c.all_reduce(a[r], a[r]); });
  for (const Array& each : a) each(nd::ellipsis) += 1;
  for (const Array& each : a) BOOST_TEST(nd::all(each == 31).item<bool>());
}

BOOST_AUTO_TEST_CASE(gathers_scatters_and_messages) {
  if (!have_two_ranks()) return;
  const std::vector<NcclCommunicator> ranks = NcclCommunicator::all({0, 1});
  const auto in = of_ranks([](std::size_t r) { return nd::arange(4.0) + double(10 * r); });
  const auto all = of_ranks([](std::size_t) { return nd::zeros({2, 4}); });
  const auto part = of_ranks([](std::size_t) { return nd::zeros({2}); });
  const auto got = of_ranks([](std::size_t) { return nd::zeros({4}); });
  together(ranks, [&](const NcclCommunicator& c, std::size_t r) {
    c.all_gather(in[r], all[r]);
    c.reduce_scatter(in[r], part[r]);
  });
  for (const Array& each : all) test::check_values<double>(each, {0, 1, 2, 3, 10, 11, 12, 13});
  test::check_values<double>(part[0], {10, 12});
  test::check_values<double>(part[1], {14, 16});
  together(ranks, [&](const NcclCommunicator& c, std::size_t r) {  // an exchange
    c.send(in[r], int(1 - r));
    c.receive(got[r], int(1 - r));
  });
  test::check_values<double>(got[0], {10, 11, 12, 13});
  test::check_values<double>(got[1], {0, 1, 2, 3});
}

BOOST_AUTO_TEST_CASE(a_thread_for_each_rank) {
  if (!have_two_ranks()) return;
  const NcclUniqueId id = nccl_unique_id();
  std::vector<Array> sums(2);
  std::vector<std::thread> threads;
  for (std::size_t r = 0; r < 2; ++r)
    threads.emplace_back([&, r] {
      const nd::DeviceScope on(device_of(r));
      const NcclCommunicator c(2, id, int(r));
      const Array a = nd::full({100}, double(r + 1)), b = nd::zeros({100});
      for (int k = 0; k < 5; ++k) c.all_reduce(a, b);
      c.broadcast(a, 1);
      sums[r] = b + a;
      c.check_async_error();
    });
  for (std::thread& t : threads) t.join();
  for (const Array& sum : sums) BOOST_TEST(nd::all(sum == 5).item<bool>());
}

// ---- ranks that wait for each other -------------------------------------------------------------

// Calls program(rank, id) in a thread for each rank, on its device.
void in_threads(const std::function<void(int, const NcclUniqueId&)>& program) {
  const NcclUniqueId id = nccl_unique_id();
  std::vector<std::thread> threads;
  for (int r = 0; r < 2; ++r)
    threads.emplace_back([&, r] {
      const nd::DeviceScope on(device_of(std::size_t(r)));
      program(r, id);
    });
  for (std::thread& t : threads) t.join();
}

// Exchanges of ranks that are known by an id, on several streams, with all operations.
BOOST_AUTO_TEST_CASE(exchanges_of_a_thread_for_each_rank) {
  if (!have_two_ranks()) return;
  std::vector<std::vector<std::vector<double>>> all(2);
  in_threads([&](int r, const NcclUniqueId& id) {
    const NcclCommunicator c(2, id, r);
    auto& results = all[std::size_t(r)];
    const Array own = nd::arange(1.0, 5.0) * double(r + 1), out = nd::zeros({4}), part = nd::zeros({2});
    const Array table = nd::zeros({2, 4});
    for (const NcclOp op : {NcclOp::sum, NcclOp::prod, NcclOp::max, NcclOp::min, NcclOp::avg}) {
      c.all_reduce(own, out, op);
      results.push_back(out.to_vector<double>());
    }
    c.all_gather(own, table);
    c.reduce_scatter(own, part);
    results.push_back(table.to_vector<double>());
    results.push_back(part.to_vector<double>());
    const nd::Stream other({.non_blocking = true});
    const nd::Event made = nd::Stream::null_stream().record();
    {
      const nd::StreamScope on(other);
      other.wait_event(made);
      c.all_reduce(own, out);  // after the work on the first stream
      NcclGroup group;
      c.send(out, 1 - r);
      c.receive(own, 1 - r);
      group.end();
    }
    nd::Stream::null_stream().wait_event(other.record());
    results.push_back(own.to_vector<double>());
  });
  const std::vector<double> sum{3, 6, 9, 12}, twice{2, 4, 6, 8}, once{1, 2, 3, 4};
  for (int r = 0; r < 2; ++r) {
    const std::vector<std::vector<double>> expected{sum,
                                                    {2, 8, 18, 32},
                                                    twice,
                                                    once,
                                                    {1.5, 3, 4.5, 6},
                                                    {1, 2, 3, 4, 2, 4, 6, 8},
                                                    r == 0 ? std::vector<double>{3, 6} : std::vector<double>{9, 12},
                                                    sum};
    BOOST_TEST((all[std::size_t(r)] == expected), "rank " << r);
  }
}

BOOST_AUTO_TEST_CASE(a_wait_for_ranks_calls_back) {
  if (!have_two_ranks()) return;
  std::vector<int> calls(2, 0), right(2, 0);
  int ends = 0;
  in_threads([&](int r, const NcclUniqueId& id) {
    if (r == 1) std::this_thread::sleep_for(std::chrono::milliseconds(50));
    const NcclCommunicator c(2, id, r, {.nonblocking = true, .while_waiting = [&] { ++calls[std::size_t(r)]; }});
    const Array a = nd::ones({3});
    c.all_reduce(a, a);
    right[std::size_t(r)] = nd::all(a == 2).item<bool>();
  });
  BOOST_TEST(calls[0] > 0);
  for (const int is_right : right) BOOST_TEST(is_right == 1);
  // The other rank never joins.
  const nd::DeviceScope on(device_of(0));
  const auto never = [&] {
    if (++ends == 3) throw std::runtime_error("enough");
  };
  BOOST_CHECK_EXCEPTION(NcclCommunicator(2, nccl_unique_id(), 0, {.nonblocking = true, .while_waiting = never}),
                        std::runtime_error,
                        [](const std::runtime_error& e) { return std::string(e.what()) == "enough"; });
  BOOST_TEST(ends == 3);
  BOOST_CHECK_THROW(NcclCommunicator(1, nccl_unique_id(), 0, {.while_waiting = never}), nd::ValueError);
}

// A wait ends if the function that it calls throws, or with an error if another rank has ended; both end the work.
BOOST_AUTO_TEST_CASE(a_wait_for_work_ends) {
  if (!have_two_ranks()) return;
  std::atomic<bool> is_done{false};
  std::string error, after;
  in_threads([&](int r, const NcclUniqueId& id) {
    NcclCommunicator c(2, id, r);
    const Array a = nd::ones({3});
    if (r == 1) {
      while (!is_done) std::this_thread::sleep_for(std::chrono::milliseconds(2));
      return;
    }
    c.all_reduce(a, a);
    int calls = 0;
    try {
      c.wait([&] {
        if (++calls == 20) throw std::runtime_error("late");
      });
    } catch (const std::runtime_error& e) {
      error = e.what();
    }
    nd::synchronize(device_of(0));  // nothing waits any more
    try {
      c.all_reduce(a, a);
    } catch (const nd::ValueError& e) {
      after = e.what();
    }
    is_done = true;
  });
  BOOST_TEST(error == "late");
  BOOST_TEST(after.find("the communicator was aborted") != std::string::npos, after);

  std::string of_nccl;
  in_threads([&](int r, const NcclUniqueId& id) {
    NcclCommunicator c(2, id, r);
    const Array a = nd::ones({3});
    if (r == 1) return;
    c.all_reduce(a, a);
    try {
      c.wait();
    } catch (const nd::CudaError& e) {
      of_nccl = e.what();
    }
  });
  BOOST_TEST(of_nccl.find("ncclRemoteError") != std::string::npos, of_nccl);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
