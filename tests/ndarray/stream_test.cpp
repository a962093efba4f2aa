// Streams and events of the device that tests run on: events mark times, callbacks run in order.
#include <catena/ndarray/device/stream.h>

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

#include <catena/kernels/base/error.h>
#include <catena/ndarray/chainer_cuda/runtime.h>
#include <catena/ndarray/ndarray.h>

namespace {

BOOST_AUTO_TEST_CASE(streams_are_distinct_and_done) {
  const nd::Stream a, b({.non_blocking = true}), null({.null = true});
  BOOST_TEST(!(a == b));
  BOOST_TEST((a == nd::Stream(a)));
  BOOST_TEST(null.is_null());
  BOOST_TEST((null == nd::Stream::null_stream()));
  BOOST_TEST((nd::Stream::null_stream().device() == nd::current_device()));
  BOOST_TEST((nd::Stream::null_stream(nd::cpu_device).device() == nd::cpu_device));
  BOOST_TEST(a.done());
  a.synchronize();
}

BOOST_AUTO_TEST_CASE(current_stream_follows_scopes) {
  const nd::StreamRef before = nd::current_stream();
  BOOST_TEST(before.handle == nullptr);
  const nd::Stream a, b;
  {
    const nd::StreamScope outer(a);
    BOOST_TEST((nd::current_stream() == a.ref()));
    try {
      const nd::StreamScope inner(b);
      BOOST_TEST((nd::current_stream() == b.ref()));
      std::thread([] { BOOST_TEST(nd::current_stream(nd::current_device()).handle == nullptr); }).join();
      throw std::runtime_error("leave");
    } catch (const std::runtime_error&) {}
    BOOST_TEST((nd::current_stream() == a.ref()));
  }
  BOOST_TEST((nd::current_stream() == before));
}

// A stream that another library made is used and not destroyed.
BOOST_AUTO_TEST_CASE(streams_of_other_libraries) {
  const nd::Stream owner({.non_blocking = true});
  {
    const nd::Stream foreign = nd::ExternalStream(owner.ptr());
    BOOST_TEST((foreign == owner && foreign == nd::Stream::external(owner.ptr(), owner.device())));
    const nd::StreamScope scope(foreign);
    BOOST_TEST((nd::current_stream() == owner.ref()));
    const nd::Array twice = nd::full({1000}, 4) * 2;
    foreign.synchronize();
    BOOST_TEST(twice(999).item<int>() == 8);
  }
  BOOST_TEST(owner.done());  // an error if it were destroyed
  owner.synchronize();
}

// The memory of an array waits for the streams that have used it, also for those that are gone before it.
BOOST_AUTO_TEST_CASE(arrays_outlive_the_streams_that_used_them) {
  std::vector<nd::Array> used;
  for (int k = 0; k < 3; ++k) {
    used.push_back(nd::full({1000}, k));
    const nd::Stream s;
    nd::Array twice;
    {
      const nd::StreamScope scope(s);
      twice = used.back() * 2;
    }
    BOOST_TEST(nd::asnumpy(used.back(), s)(999).item<int>() == k);
    s.synchronize();
    BOOST_TEST(twice(0).item<int>() == 2 * k);
    used.push_back(twice);
  }
  const nd::Stream again, another;  // may be one of those that are gone, but not both the same
  BOOST_TEST(!(again == another));
  used.clear();
  BOOST_TEST(nd::full({1000}, 7)(999).item<int>() == 7);
}

BOOST_AUTO_TEST_CASE(callbacks_run_in_order) {
  const nd::Stream s;
  std::vector<int> order;
  int strange = 0;
  for (int i = 0; i < 100; ++i)
    s.add_callback([&, i](const nd::Stream& stream, int status) {
      strange += !(stream == s) || status != 0;
      order.push_back(i);
    });
  s.synchronize();
  BOOST_TEST(strange == 0);
  BOOST_TEST_REQUIRE(order.size() == 100u);
  for (int i = 0; i < 100; ++i) BOOST_TEST(order[std::size_t(i)] == i);
}

BOOST_AUTO_TEST_CASE(events_measure_time) {
  const nd::Stream s;
  const nd::Event start = s.record();
  start.synchronize();  // the device may be behind
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  const nd::Event stop;
  stop.record(s);
  s.wait_event(stop);
  stop.synchronize();
  BOOST_TEST(stop.done());
  const double ms = nd::get_elapsed_time(start, stop);
  BOOST_TEST(ms >= 5.0);
  BOOST_TEST(ms < 5000.0);
  const nd::Event untimed({.disable_timing = true});
  untimed.record();
  BOOST_CHECK_THROW(nd::get_elapsed_time(start, untimed), catena::RuntimeError);
  if (start.device() == nd::cpu_device)
    BOOST_CHECK_THROW(nd::get_elapsed_time(start, nd::Event()), catena::RuntimeError);
  else
    BOOST_CHECK_EXCEPTION(nd::get_elapsed_time(start, nd::Event()), catena::CudaError,
                          [](const catena::CudaError& e) { return e.symbol() == "CUDA_ERROR_INVALID_HANDLE"; });
  BOOST_CHECK_THROW(nd::Event({.interprocess = true}), catena::ValueError);
}

// The handle is what the driver knows the event by: through it alone the event is recorded and waited for.
BOOST_AUTO_TEST_CASE(handles_of_events) {
  const nd::Event a, b, same = a;
  BOOST_TEST(a.ptr() != nullptr);
  BOOST_TEST(a.ptr() == same.ptr());
  BOOST_TEST(a.ptr() != b.ptr());
  if (a.device() == nd::cpu_device) return;
  BOOST_CHECK_THROW(nd::get_elapsed_time(a, a), catena::CudaError);  // not recorded yet
  nd::cuda::runtime::event_record(a.ptr());
  nd::cuda::runtime::event_synchronize(a.ptr());
  BOOST_TEST(a.done());
  BOOST_TEST(nd::get_elapsed_time(a, a) == 0.0);
}

}  // namespace
