// Streams and events of the device that tests run on: events mark times, callbacks run in order.
#include <catena/ndarray/device/stream.h>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include <catena/kernels/base/error.h>
#include <catena/ndarray/chainer_cuda/runtime.h>
#include <catena/ndarray/ndarray.h>
#include <catena/tests/support/ndarray_values.h>
#include <catena/tests/support/run_self.h>

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

bool on_cuda() { return nd::current_device().kind == nd::Device::Kind::cuda; }

BOOST_AUTO_TEST_CASE(priorities) {
  const nd::StreamPriorities range = nd::stream_priorities();
  BOOST_TEST((nd::stream_priorities(nd::cpu_device) == nd::StreamPriorities{}));
  BOOST_TEST(range.least == 0);
  BOOST_TEST(range.greatest <= 0);
  for (const int wanted : {-1, 0, 7, -1000}) {
    const nd::Stream s({.non_blocking = true, .priority = wanted});
    BOOST_TEST(s.priority() == std::clamp(wanted, range.greatest, range.least));
    BOOST_TEST(s.is_non_blocking() == on_cuda());
  }
  BOOST_TEST(nd::Stream::null_stream().priority() == 0);
  BOOST_TEST(!nd::Stream({.priority = -1}).is_non_blocking());
  // A stream that was given up is not reused for another priority.
  void* urgent = nullptr;
  if (on_cuda()) {
    BOOST_TEST(range.greatest < 0);
    urgent = nd::Stream({.priority = range.greatest}).ptr();
    const nd::Stream ordinary, again({.priority = range.greatest - 1});
    BOOST_TEST(ordinary.ptr() != urgent);
    BOOST_TEST(again.ptr() == urgent);
    BOOST_TEST(again.priority() == range.greatest);
  }
}

BOOST_AUTO_TEST_CASE(streams_are_keys) {
  const nd::Stream a, b, same = a;
  std::unordered_map<nd::Stream, int> of{{a, 1}, {b, 2}};
  BOOST_TEST(of.at(same) == 1);
  BOOST_TEST(of.size() == 2u);
}

BOOST_AUTO_TEST_CASE(every_thread_has_a_stream) {
  const nd::Stream own = nd::Stream::per_thread();
  BOOST_TEST((own == nd::Stream::per_thread()));
  BOOST_TEST((own.device() == nd::current_device()));
  BOOST_TEST(own.is_null() == !on_cuda());
  BOOST_TEST(!own.is_non_blocking());  // ordered with the default stream
  std::thread([&, device = nd::current_device()] {
    const nd::DeviceScope on(device);
    const nd::Stream other = nd::Stream::per_thread();
    BOOST_TEST((other == own) == !on_cuda());
    const nd::StreamScope scope(other);
    BOOST_TEST(nd::sum(nd::ones({1000}) * 2).item<int>() == 2000);
  }).join();
  const nd::StreamScope scope(own);
  const nd::Array a = nd::full({1000}, 3);
  {
    const nd::StreamScope on_default(nd::Stream::null_stream());
    BOOST_TEST(nd::sum(a).item<int>() == 3000);
  }
  BOOST_TEST((nd::Stream::per_thread(nd::cpu_device) == nd::Stream::null_stream(nd::cpu_device)));
}

// The environment variable makes the stream of the thread the current one: this case runs itself in such a process.
BOOST_AUTO_TEST_CASE(the_default_stream_of_a_program) {
  const char* const set = std::getenv("CATENA_PER_THREAD_DEFAULT_STREAM");
  if (set == nullptr) {
    const auto with = [](const std::string& value) {
      return test::run_self("--run_test=the_default_stream_of_a_program", "CATENA_PER_THREAD_DEFAULT_STREAM=" + value);
    };
    for (const char* value : {"1", "0"}) {
      const test::Run run = with(value);
      BOOST_TEST(run.status == 0, run.output);
    }
    return;
  }
  const bool per_thread = on_cuda() && std::string(set) == "1";
  BOOST_TEST((nd::current_stream() == nd::Stream::per_thread().ref()) == (per_thread || !on_cuda()));
  BOOST_TEST((nd::current_stream().handle != nullptr) == per_thread);
  BOOST_TEST(nd::sum(nd::full({1000}, 4) * 2).item<int>() == 8000);
  const nd::StreamRef here = nd::current_stream();
  std::thread([&, device = nd::current_device()] {
    const nd::DeviceScope on(device);
    BOOST_TEST((nd::current_stream() != here) == per_thread);
  }).join();
  BOOST_TEST(nd::current_stream(nd::cpu_device).handle == nullptr);
}

BOOST_AUTO_TEST_CASE(handles_with_a_meaning) {
  void* const legacy = reinterpret_cast<void*>(1);
  void* const per_thread = reinterpret_cast<void*>(2);
  if (!on_cuda()) {
    BOOST_TEST(nd::Stream::external(per_thread).ptr() == per_thread);
    return;
  }
  BOOST_TEST((nd::Stream::external(legacy) == nd::Stream::null_stream()));
  BOOST_TEST(test::contains(test::message_of<nd::ValueError>([&] { nd::ExternalStream(per_thread); }),
                            "Stream::external: the handle 2 (cudaStreamPerThread)"));
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
