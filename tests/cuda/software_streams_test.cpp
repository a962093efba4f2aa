// The software CUDA device by its driver's functions: lazy streams, events, the order between them, captures and
// graphs.
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include <catena/tests/support/cuda_device/driver_calls.h>
#include <catena/tests/support/last_words.h>

namespace {

using namespace cuda_device;

constexpr std::size_t kBytes = 2 * 4096;  // whole pages

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

constexpr int kReadLine = __LINE__ + 1;
[[gnu::noinline]] int read_by_host(const volatile int* p) { return *p; }

// A device array of ints, all of one value once everything before is done.
struct Array {
  cu_deviceptr data = allocate(kBytes);
  Array() { CU(copy_to_device, data, std::vector<int>(kBytes / sizeof(int)).data(), kBytes); }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  ~Array() { STATUS(memory_free, data); }
  void fill(int byte, cu_stream stream) { CU(fill_async, data, static_cast<unsigned char>(byte), kBytes, stream); }
  void copy_from(const Array& other, cu_stream stream) { CU(copy_on_device_async, data, other.data, kBytes, stream); }
  int value() const { return download<int>(data, 1)[0]; }
};

struct Pinned {
  int* data = allocate_pinned<int>(kBytes / sizeof(int));
  Pinned() = default;
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;
  ~Pinned() { STATUS(host_free, data); }
};

struct Fixture : OnDevice {
  cu_stream s = make_stream(), t = make_stream();
  ~Fixture() {
    STATUS(stream_destroy, s);
    STATUS(stream_destroy, t);
  }
};

void capture(cu_stream stream) { CU(stream_begin_capture, stream, cu_capture_relaxed); }
cu_graph end_capture(cu_stream stream) {
  cu_graph graph = nullptr;
  CU(stream_end_capture, stream, &graph);
  return graph;
}
std::size_t count_nodes(cu_graph graph) {
  std::size_t count = 0;
  CU(graph_get_nodes, graph, nullptr, &count);
  return count;
}

// All bytes 0x01, 0x02 ... as an int.
constexpr int ones(int byte) { return byte * 0x01010101; }

}  // namespace

BOOST_FIXTURE_TEST_SUITE(software_streams, Fixture)

// ---- streams ------------------------------------------------------------------------------------
BOOST_AUTO_TEST_CASE(nothing_happens_before_it_is_needed) {
  Array a;
  std::atomic<int> ran{0};
  CU(
      launch_host_function, s, [](void* p) { ++*static_cast<std::atomic<int>*>(p); }, &ran);
  a.fill(1, s);
  BOOST_CHECK_EQUAL(ran, 0);
  CU(stream_synchronize, t);
  BOOST_CHECK_EQUAL(ran, 0);
  BOOST_CHECK_EQUAL(a.value(), 0);  // the legacy stream does not wait for one that does not block
  CU(stream_synchronize, s);
  BOOST_CHECK_EQUAL(ran, 1);
  BOOST_CHECK_EQUAL(a.value(), ones(1));
}

BOOST_AUTO_TEST_CASE(work_of_a_stream_is_in_order) {
  struct Call {
    std::vector<int>* order;
    int number;
  };
  std::vector<int> order;
  std::vector<Call> calls;
  for (int k = 0; k < 10; ++k) calls.push_back({&order, k});
  for (Call& call : calls)
    CU(
        launch_host_function, s,
        [](void* p) {
          const Call& c = *static_cast<Call*>(p);
          c.order->push_back(c.number);
        },
        &call);
  CU(context_synchronize);
  std::vector<int> expected(10);
  std::iota(expected.begin(), expected.end(), 0);
  BOOST_CHECK(order == expected);
}

BOOST_AUTO_TEST_CASE(streams_without_order_run_the_newest_first) {
  Array a;
  a.fill(1, s);
  a.fill(2, t);
  CU(context_synchronize);
  BOOST_CHECK_EQUAL(a.value(), ones(1));  // not what the order of the calls suggests
}

BOOST_AUTO_TEST_CASE(a_query_makes_a_little_progress) {
  Array a;
  a.fill(1, s);
  a.fill(2, s);
  BOOST_CHECK_EQUAL(STATUS(stream_query, s), cu_error_not_ready);
  BOOST_CHECK_EQUAL(a.value(), ones(1));
  BOOST_CHECK_EQUAL(STATUS(stream_query, s), cu_success);
  BOOST_CHECK_EQUAL(a.value(), ones(2));
  BOOST_CHECK_EQUAL(STATUS(stream_query, s), cu_success);
}

BOOST_AUTO_TEST_CASE(the_legacy_stream_is_ordered_with_blocking_ones) {
  Array a, b, c;
  const cu_stream blocking = make_stream(cu_stream_default);
  a.fill(1, blocking);
  b.copy_from(a, nullptr);   // waits for the stream
  c.copy_from(b, blocking);  // waits for the legacy one
  CU(stream_synchronize, blocking);
  BOOST_CHECK_EQUAL(c.value(), ones(1));
  a.fill(2, blocking);
  CU(stream_synchronize, nullptr);
  BOOST_CHECK_EQUAL(STATUS(stream_query, blocking), cu_success);
  a.fill(3, blocking);
  CU(stream_destroy, blocking);  // what is queued is still done
  BOOST_CHECK_EQUAL(a.value(), ones(3));
}

BOOST_AUTO_TEST_CASE(pageable_sources_are_read_at_the_call_and_pinned_ones_later) {
  Array a, b;
  Pinned pinned;
  std::vector<int> pageable(kBytes / sizeof(int), 5);
  std::fill_n(pinned.data, kBytes / sizeof(int), 5);
  CU(copy_to_device_async, a.data, pageable.data(), kBytes, s);
  CU(copy_to_device_async, b.data, pinned.data, kBytes, s);
  std::fill(pageable.begin(), pageable.end(), 6);
  std::fill_n(pinned.data, kBytes / sizeof(int), 6);
  CU(stream_synchronize, s);
  BOOST_CHECK_EQUAL(a.value(), 5);
  BOOST_CHECK_EQUAL(b.value(), 6);
}

BOOST_AUTO_TEST_CASE(pageable_destinations_are_written_at_the_call) {
  Array a;
  a.fill(4, s);
  std::vector<int> out(kBytes / sizeof(int));
  control.reset_records();
  CU(copy_to_host_async, out.data(), a.data, kBytes, s);
  BOOST_CHECK_EQUAL(out.back(), ones(4));
  BOOST_CHECK(control.synchronisations() == std::vector<std::string>{"cuMemcpyDtoHAsync_v2"});
}

BOOST_AUTO_TEST_CASE(host_functions_may_not_call_the_driver) {
  cu_result status = -1;
  CU(
      launch_host_function, s, [](void* p) { *static_cast<cu_result*>(p) = STATUS(context_synchronize); }, &status);
  CU(stream_synchronize, s);
  BOOST_CHECK_EQUAL(status, 800);
}

BOOST_AUTO_TEST_CASE(host_functions_come_by_themselves_in_the_end) {
  Array a;
  std::atomic<bool> done{false};
  a.fill(1, s);
  CU(
      launch_host_function, s, [](void* p) { *static_cast<std::atomic<bool>*>(p) = true; }, &done);
  const auto start = std::chrono::steady_clock::now();
  while (!done && std::chrono::steady_clock::now() - start < std::chrono::seconds(60)) std::this_thread::yield();
  BOOST_CHECK(done);
}

BOOST_AUTO_TEST_CASE(callbacks_are_told_about_a_failure) {
  const Kernel add("add", kAddText);
  Array a;
  std::vector<cu_result> statuses;
  const auto note = [](cu_stream, cu_result status, void* p) {
    static_cast<std::vector<cu_result>*>(p)->push_back(status);
  };
  CU(stream_add_callback, s, note, &statuses, 0);
  BOOST_REQUIRE_EQUAL(add.launch(1, 32, s, a.data, 1, 32), cu_success);
  CU(stream_add_callback, s, note, &statuses, 0);
  control.fail("kernel", 1, cu_error_assert);
  BOOST_CHECK_EQUAL(STATUS(stream_synchronize, s), cu_error_assert);
  BOOST_CHECK(statuses == (std::vector<cu_result>{cu_success, cu_error_assert}));
  control.clear_faults();
}

BOOST_AUTO_TEST_CASE(streams_are_used_by_several_threads) {
  constexpr int threads = 4, rounds = 50;
  std::vector<int> results(threads);
  std::vector<std::thread> running;
  for (int k = 0; k < threads; ++k)
    running.emplace_back([&, k] {
      // No checks of the test framework here: it is not made for threads.
      cu_deviceptr data = 0;
      cu_stream mine = nullptr;
      bool good = STATUS(context_set_current, context[0]) == cu_success &&
                  STATUS(memory_allocate, &data, 64) == cu_success &&
                  STATUS(stream_create, &mine, cu_stream_non_blocking) == cu_success;
      for (int round = 0; round < rounds && good; ++round) {
        unsigned char out[64];
        std::atomic<int> called{0};
        good = STATUS(fill_async, data, static_cast<unsigned char>(k * rounds + round), 64, mine) == cu_success &&
               STATUS(
                   launch_host_function, mine, [](void* p) { ++*static_cast<std::atomic<int>*>(p); }, &called) ==
                   cu_success &&
               STATUS(copy_to_host_async, out, data, 64, mine) == cu_success && called == 1 &&
               out[63] == k * rounds + round;
      }
      good = good && STATUS(stream_destroy, mine) == cu_success && STATUS(memory_free, data) == cu_success;
      results[static_cast<std::size_t>(k)] = good;
    });
  for (std::thread& thread : running) thread.join();
  BOOST_CHECK(results == std::vector<int>(threads, 1));
}

// ---- events -------------------------------------------------------------------------------------
BOOST_AUTO_TEST_CASE(events_order_streams) {
  Array a, b;
  const cu_event done = make_event();
  a.fill(1, s);
  CU(event_record, done, s);
  a.fill(2, s);  // behind the event
  CU(stream_wait_event, t, done, 0);
  b.copy_from(a, t);
  CU(stream_synchronize, t);
  BOOST_CHECK_EQUAL(b.value(), ones(1));
  BOOST_CHECK_EQUAL(a.value(), ones(1));  // and no more was needed
  CU(event_destroy, done);
}

BOOST_AUTO_TEST_CASE(a_wait_is_for_the_last_record_at_its_call) {
  Array a, b;
  const cu_event event = make_event();
  CU(stream_wait_event, t, event, 0);  // never recorded: nothing to wait for
  a.fill(1, s);
  CU(event_record, event, s);
  CU(stream_wait_event, t, event, 0);
  a.fill(2, s);
  CU(event_record, event, s);
  b.copy_from(a, t);
  CU(event_destroy, event);  // with waits under way
  CU(stream_synchronize, t);
  BOOST_CHECK_EQUAL(b.value(), ones(1));
}

BOOST_AUTO_TEST_CASE(events_are_asked_and_waited_for) {
  Array a;
  const cu_event event = make_event();
  BOOST_CHECK_EQUAL(STATUS(event_query, event), cu_success);
  CU(event_synchronize, event);
  a.fill(1, s);
  a.fill(2, s);
  CU(event_record, event, s);
  a.fill(3, s);
  BOOST_CHECK_EQUAL(STATUS(event_query, event), cu_error_not_ready);
  CU(event_synchronize, event);
  BOOST_CHECK_EQUAL(a.value(), ones(2));
  BOOST_CHECK_EQUAL(STATUS(event_query, event), cu_success);
  CU(event_destroy, event);
}

BOOST_AUTO_TEST_CASE(events_measure_time) {
  const cu_event start = make_event(0), stop = make_event(0), untimed = make_event();
  float ms = 0;
  BOOST_CHECK_EQUAL(STATUS(event_elapsed_time, &ms, start, stop), cu_error_invalid_handle);  // not recorded
  CU(event_record, start, s);
  CU(
      launch_host_function, s, [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(20)); }, nullptr);
  CU(event_record, stop, s);
  CU(event_record, untimed, s);
  BOOST_CHECK_EQUAL(STATUS(event_elapsed_time, &ms, start, stop), cu_error_not_ready);
  CU(event_synchronize, stop);
  CU(event_elapsed_time, &ms, start, stop);
  BOOST_CHECK_GE(ms, 20.0f);
  BOOST_CHECK_EQUAL(STATUS(event_elapsed_time, &ms, start, untimed), cu_error_invalid_handle);
  for (cu_event event : {start, stop, untimed}) CU(event_destroy, event);
}

BOOST_AUTO_TEST_CASE(long_chains_between_streams) {
  Array a, b;
  for (int k = 0; k < 20000; ++k) {
    const cu_event event = make_event();
    CU(event_record, event, k % 2 == 0 ? s : t);
    CU(stream_wait_event, k % 2 == 0 ? t : s, event, 0);
    CU(event_destroy, event);
  }
  a.fill(1, s);
  CU(stream_synchronize, s);
  BOOST_CHECK_EQUAL(a.value(), ones(1));
}

// ---- captures and graphs ------------------------------------------------------------------------
BOOST_AUTO_TEST_CASE(a_graph_repeats_what_was_captured) {
  const Kernel add("add", kAddText);
  Array a;
  int status = -1, v = 3;
  capture(s);
  CU(stream_is_capturing, s, &status);
  BOOST_CHECK_EQUAL(status, cu_capture_active);
  control.reset_records();
  a.fill(0, s);
  BOOST_REQUIRE_EQUAL(add.launch(1, 32, s, a.data, v, 32), cu_success);
  BOOST_REQUIRE_EQUAL(add.launch(1, 32, s, a.data, v + 1, 32), cu_success);
  v = 100;
  const cu_graph graph = end_capture(s);
  CU(stream_is_capturing, s, &status);
  BOOST_CHECK_EQUAL(status, cu_capture_none);
  BOOST_CHECK_EQUAL(count_nodes(graph), 3u);
  BOOST_CHECK(control.launches().empty());
  BOOST_CHECK_EQUAL(a.value(), 0);

  cu_graph_exec exec = nullptr;
  CU(graph_instantiate, &exec, graph, 0);
  CU(graph_destroy, graph);
  for (int round = 0; round < 3; ++round) {
    a.fill(9, t);
    CU(stream_synchronize, t);
    CU(graph_launch, exec, t);
    CU(stream_synchronize, t);
    BOOST_CHECK_EQUAL(a.value(), 7);
  }
  BOOST_CHECK_EQUAL(control.launches().size(), 6u);
  CU(graph_exec_destroy, exec);
  BOOST_CHECK_EQUAL(STATUS(graph_launch, exec, t), cu_error_invalid_handle);
}

BOOST_AUTO_TEST_CASE(streams_join_a_capture_through_events) {
  Array a, b;
  const cu_event fork = make_event(), join = make_event();
  int status = -1;
  capture(s);
  a.fill(1, s);
  CU(event_record, fork, s);
  CU(stream_wait_event, t, fork, 0);
  CU(stream_is_capturing, t, &status);
  BOOST_CHECK_EQUAL(status, cu_capture_active);
  b.copy_from(a, t);
  a.fill(2, s);  // not ordered with the copy
  CU(event_record, join, t);
  CU(stream_wait_event, s, join, 0);
  const cu_graph graph = end_capture(s);
  BOOST_CHECK_EQUAL(count_nodes(graph), 3u);
  cu_graph_exec exec = nullptr;
  CU(graph_instantiate, &exec, graph, 0);
  CU(graph_launch, exec, s);
  CU(graph_launch, exec, s);
  CU(stream_synchronize, s);
  BOOST_CHECK_EQUAL(a.value(), ones(2));
  BOOST_CHECK_EQUAL(b.value(), ones(2));              // the adverse one of the two legal orders
  BOOST_CHECK_EQUAL(STATUS(event_query, join), 907);  // a captured event is no point in time
  CU(graph_exec_destroy, exec);
  CU(graph_destroy, graph);
  CU(event_destroy, fork);
  CU(event_destroy, join);
}

BOOST_AUTO_TEST_CASE(forbidden_calls_spoil_a_capture) {
  Array a;
  const cu_event outside = make_event(), inside = make_event();
  const cu_stream blocking = make_stream(cu_stream_default);
  CU(event_record, outside, t);
  struct Case {
    const char* name;
    int mode;
    cu_stream stream;
    std::function<cu_result()> call;
    cu_result status;  // of the call; the capture survives a success
  };
  cu_deviceptr memory = 0;
  const auto alloc = [&] {
    const cu_result status = STATUS(memory_allocate, &memory, 16);
    return status;
  };
  const std::vector<Case> cases = {
      {"synchronize", cu_capture_relaxed, s, [&] { return STATUS(stream_synchronize, s); }, 900},
      {"query", cu_capture_relaxed, s, [&] { return STATUS(stream_query, s); }, 900},
      {"synchronize all", cu_capture_relaxed, s, [&] { return STATUS(context_synchronize); }, 900},
      {"other stream", cu_capture_relaxed, s, [&] { return STATUS(stream_synchronize, t); }, 0},
      {"callback", cu_capture_relaxed, s,
       [&] {
         return STATUS(
             stream_add_callback, s, [](cu_stream, int, void*) {}, nullptr, 0);
       },
       900},
      {"outside event", cu_capture_relaxed, s, [&] { return STATUS(stream_wait_event, s, outside, 0); }, 905},
      {"legacy stream", cu_capture_relaxed, blocking, [&] { return STATUS(fill_async, a.data, 0, 4, nullptr); }, 906},
      {"legacy stream, no order", cu_capture_relaxed, s, [&] { return STATUS(fill_async, a.data, 0, 4, nullptr); }, 0},
      {"allocation", cu_capture_thread_local, s, alloc, 900},
      {"allocation, global", 0, s, alloc, 900},
      {"allocation, relaxed", cu_capture_relaxed, s, alloc, 0},
      {"captured event", cu_capture_relaxed, s,
       [&] {
         STATUS(event_record, inside, s);
         return STATUS(event_synchronize, inside);
       },
       907},
      {"begin again", cu_capture_relaxed, s,
       [&] { return STATUS(stream_begin_capture, s, cu_capture_relaxed) == 401 ? 0 : -1; }, 0},
  };
  for (const Case& c : cases) {
    BOOST_TEST_CONTEXT(c.name) {
      CU(stream_begin_capture, c.stream, c.mode);
      a.fill(1, c.stream);
      BOOST_CHECK_EQUAL(c.call(), c.status);
      int status = -1;
      CU(stream_is_capturing, c.stream, &status);
      BOOST_CHECK_EQUAL(status, c.status == 0 ? cu_capture_active : cu_capture_invalidated);
      if (c.status != 0)
        BOOST_CHECK_EQUAL(STATUS(fill_async, a.data, 0, 4, c.stream), cu_error_stream_capture_invalidated);
      cu_graph graph = nullptr;
      BOOST_CHECK_EQUAL(STATUS(stream_end_capture, c.stream, &graph),
                        c.status == 0 ? 0 : cu_error_stream_capture_invalidated);
      BOOST_CHECK_EQUAL(graph != nullptr, c.status == 0);
      if (graph != nullptr) CU(graph_destroy, graph);
      CU(stream_synchronize, c.stream);  // it is an ordinary stream again
    }
  }
  CU(memory_free, memory);
  CU(stream_destroy, blocking);
  CU(event_destroy, outside);
  CU(event_destroy, inside);
}

BOOST_AUTO_TEST_CASE(captures_end_where_they_began_and_whole) {
  Array a;
  const cu_event fork = make_event();
  cu_graph graph = nullptr;
  BOOST_CHECK_EQUAL(STATUS(stream_end_capture, s, &graph), 401);
  BOOST_CHECK_EQUAL(STATUS(stream_begin_capture, nullptr, cu_capture_relaxed), 900);
  capture(s);
  CU(event_record, fork, s);
  CU(stream_wait_event, t, fork, 0);
  a.fill(1, t);
  BOOST_CHECK_EQUAL(STATUS(stream_end_capture, s, &graph), 904);  // t was not joined
  BOOST_CHECK(graph == nullptr);
  capture(s);
  CU(event_record, fork, s);
  CU(stream_wait_event, t, fork, 0);
  BOOST_CHECK_EQUAL(STATUS(stream_end_capture, t, &graph), 903);
  BOOST_CHECK_EQUAL(STATUS(stream_end_capture, s, &graph), cu_error_stream_capture_invalidated);
  CU(stream_begin_capture, s, cu_capture_thread_local);
  cu_result status = 0;
  std::thread([&] {
    STATUS(context_set_current, context[0]);
    status = STATUS(stream_end_capture, s, &graph);
  }).join();
  BOOST_CHECK_EQUAL(status, 908);
  BOOST_CHECK_EQUAL(STATUS(stream_end_capture, s, &graph), cu_error_stream_capture_invalidated);
  CU(event_destroy, fork);
}

// ---- planted errors: order ----------------------------------------------------------------------
BOOST_AUTO_TEST_CASE(the_host_reads_pinned_memory_before_synchronization) {
  Array a;
  Pinned pinned;
  a.fill(1, s);
  CU(copy_to_host_async, pinned.data, a.data, kBytes, s);
  const std::string text = test::last_words([&] { read_by_host(pinned.data + 7); });
  BOOST_CHECK_MESSAGE(contains(text, "software cuda: the host touched pinned memory that a copy of stream 0x"), text);
  BOOST_CHECK_MESSAGE(contains(text, " still writes; nothing has waited for it: 0x"), text);
  BOOST_CHECK_MESSAGE(contains(text, "28 bytes into a pinned allocation of 8192 bytes"), text);
  BOOST_CHECK_MESSAGE(contains(text, "software_streams_test.cpp:" + std::to_string(kReadLine)), text);
  CU(stream_synchronize, s);
  BOOST_CHECK_EQUAL(read_by_host(pinned.data + 7), ones(1));
  // A copy that reads what an earlier one still writes is in order on one stream.
  Array b;
  CU(copy_to_host_async, pinned.data, a.data, kBytes, s);
  CU(copy_to_device_async, b.data, pinned.data, kBytes, s);
  CU(stream_synchronize, s);
  BOOST_CHECK_EQUAL(b.value(), ones(1));
}

BOOST_AUTO_TEST_CASE(copies_without_order) {
  control.set_check(true);
  Array a, b, c;
  b.copy_from(a, s);
  c.copy_from(a, t);  // both only read
  CU(context_synchronize);
  const auto unordered = [&] {
    b.copy_from(a, s);
    c.copy_from(b, t);
    STATUS(context_synchronize);
  };
  const std::string text = test::last_words(unordered);
  BOOST_CHECK_MESSAGE(contains(text, "software cuda: a copy on stream 0x"), text);
  BOOST_CHECK_MESSAGE(contains(text, " and a copy on stream 0x"), text);
  BOOST_CHECK_MESSAGE(contains(text, " use the same memory and nothing orders them: 0x"), text);
  BOOST_CHECK_MESSAGE(contains(text, ", 0 bytes into an allocation of 8192 bytes\n"), text);
  BOOST_CHECK_MESSAGE(contains(text, "\n  a copy reads\n  a copy writes\n"), text);

  control.set_report_mode(OnReport::error);
  b.copy_from(a, s);
  c.copy_from(b, t);
  BOOST_CHECK_EQUAL(STATUS(context_synchronize), cu_error_illegal_address);
  BOOST_CHECK(contains(control.last_report(), "nothing orders them"));
  control.clear_faults();
}

BOOST_AUTO_TEST_CASE(copies_in_order) {
  control.set_check(true);
  Array a, b, c;
  const cu_event done = make_event();
  const cu_stream blocking = make_stream(cu_stream_default);
  for (int round = 0; round < 3; ++round) {
    b.copy_from(a, s);  // by an event
    CU(event_record, done, s);
    CU(stream_wait_event, t, done, 0);
    c.copy_from(b, t);
    CU(stream_synchronize, t);  // by the host
    b.copy_from(c, blocking);
    a.copy_from(b, nullptr);  // by the legacy stream's rule
    c.copy_from(a, blocking);
    CU(event_record, done, blocking);
    while (STATUS(event_query, done) != cu_success) {}  // by a query
  }
  a.fill(1, s);
  CU(fill_async, a.data + 4096, 2, 4096, s);
  CU(event_record, done, s);
  CU(fill_async, a.data, 3, 4096, s);
  CU(stream_wait_event, t, done, 0);
  CU(fill_async, a.data + 4096, 4, 4096, t);  // other bytes than the one it does not wait for
  CU(context_synchronize);
  BOOST_CHECK_EQUAL(a.value(), ones(3));
  CU(event_destroy, done);
  CU(stream_destroy, blocking);
}

BOOST_AUTO_TEST_CASE(a_graphs_branches_are_checked) {
  control.set_check(true);
  Array a, b;
  const cu_event fork = make_event(), join = make_event();
  capture(s);
  CU(event_record, fork, s);
  CU(stream_wait_event, t, fork, 0);
  a.fill(1, s);
  b.copy_from(a, t);
  CU(event_record, join, t);
  CU(stream_wait_event, s, join, 0);
  const cu_graph graph = end_capture(s);
  cu_graph_exec exec = nullptr;
  CU(graph_instantiate, &exec, graph, 0);
  const std::string text = test::last_words([&] {
    STATUS(graph_launch, exec, s);
    STATUS(context_synchronize);
  });
  BOOST_CHECK_MESSAGE(contains(text, "nothing orders them"), text);
  CU(graph_exec_destroy, exec);
  CU(graph_destroy, graph);
  CU(event_destroy, fork);
  CU(event_destroy, join);
}

// Every launch must be cheap to put on a stream: most tests are made of small ones.
BOOST_AUTO_TEST_CASE(launches_cost_little) {
  const Kernel add("add", kAddText);
  Array a;
  constexpr int launches = 2000;
  const auto start = std::chrono::steady_clock::now();
  for (int k = 0; k < launches; ++k) BOOST_REQUIRE_EQUAL(add.launch(1, 32, s, a.data, 1, 32), cu_success);
  const double queued =
      std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count() / launches;
  CU(stream_synchronize, s);
  const double done =
      std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count() / launches;
  BOOST_CHECK_EQUAL(a.value(), launches);
  BOOST_TEST_MESSAGE("a launch of 32 threads: " << queued << " us to queue it, " << done << " us until it is done");
}

BOOST_AUTO_TEST_SUITE_END()

// The mode is read when the library is loaded: by a program of its own.
BOOST_AUTO_TEST_CASE(eager_streams) {
  const auto run = [](const std::string& name) {
    const std::string program = boost::unit_test::framework::master_test_suite().argv[0];
    return std::system(("CATENA_SOFTWARE_CUDA_STREAMS=eager '" + program + "' --run_test=software_streams/" + name +
                        " >/dev/null 2>&1")
                           .c_str());
  };
  BOOST_CHECK_EQUAL(run("work_of_a_stream_is_in_order"), 0);
  BOOST_CHECK_EQUAL(run("a_graph_repeats_what_was_captured"), 0);
  BOOST_CHECK_NE(run("nothing_happens_before_it_is_needed"), 0);
}
