// Streams and events on the CPU: work is done when a call returns, events mark times, callbacks run in order.
#include "ndarray/device/stream.h"

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

#include "kernels/host/error.h"

namespace {

struct OnCpu {
  nd::DeviceScope scope{nd::cpu_device};
};

BOOST_FIXTURE_TEST_CASE(streams_are_distinct_and_done, OnCpu) {
  const nd::Stream a, b({.non_blocking = true}), null({.null = true});
  BOOST_TEST(!(a == b));
  BOOST_TEST((a == nd::Stream(a)));
  BOOST_TEST(null.is_null());
  BOOST_TEST((null == nd::Stream::null_stream(nd::cpu_device)));
  BOOST_TEST(a.done());
  a.synchronize();
}

BOOST_FIXTURE_TEST_CASE(current_stream_follows_scopes, OnCpu) {
  const nd::StreamRef before = nd::current_stream();
  BOOST_TEST(before.handle == nullptr);
  const nd::Stream a, b;
  {
    const nd::StreamScope outer(a);
    BOOST_TEST((nd::current_stream() == a.ref()));
    try {
      const nd::StreamScope inner(b);
      BOOST_TEST((nd::current_stream() == b.ref()));
      std::thread([] { BOOST_TEST(nd::current_stream(nd::cpu_device).handle == nullptr); }).join();
      throw std::runtime_error("leave");
    } catch (const std::runtime_error&) {
    }
    BOOST_TEST((nd::current_stream() == a.ref()));
  }
  BOOST_TEST((nd::current_stream() == before));
}

BOOST_FIXTURE_TEST_CASE(callbacks_run_in_order, OnCpu) {
  const nd::Stream s;
  std::vector<int> order;
  for (int i = 0; i < 100; ++i)
    s.add_callback([&order, i, &s](const nd::Stream& stream, int status) {
      BOOST_TEST((stream == s));
      BOOST_TEST(status == 0);
      order.push_back(i);
    });
  s.synchronize();
  BOOST_TEST(order.size() == 100u);
  for (int i = 0; i < 100; ++i) BOOST_TEST(order[std::size_t(i)] == i);
}

BOOST_FIXTURE_TEST_CASE(events_measure_time, OnCpu) {
  const nd::Stream s;
  const nd::Event start = s.record();
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
  BOOST_CHECK_THROW(nd::get_elapsed_time(start, nd::Event()), catena::RuntimeError);
  BOOST_CHECK_THROW(nd::Event({.interprocess = true}), catena::ValueError);
}

}  // namespace
