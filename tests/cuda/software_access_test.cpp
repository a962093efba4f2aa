// Check mode of the software CUDA device: kernels that reach outside their memory, and kernels on two streams that
// nothing orders.
#include <boost/test/unit_test.hpp>

#include <cstdlib>
#include <string>

#include <catena/tests/support/cuda_device/driver_calls.h>
#include <catena/tests/support/last_words.h>
#include <catena/tests/support/pattern.h>

namespace {

using namespace cuda_device;

// The device asks at its first use.
struct CheckMode {
  CheckMode() { setenv("CATENA_SOFTWARE_CUDA_CHECK", "1", 1); }
};
BOOST_TEST_GLOBAL_FIXTURE(CheckMode);

constexpr std::size_t kBytes = 64;  // of every array: 16 ints

struct Checked : OnDevice {
  // The second line of each does what its name says.
  Kernel write{"write", "extern \"C\" __global__ void write(int* p, int at) {\n  p[at] = 1;\n}\n"};
  Kernel read{"read",
              "extern \"C\" __global__ void read(const int* p, int at, int* out) {\n  out[0] =\n      p[at];\n}\n"};
  cu_deviceptr a = allocate(kBytes), b = allocate(kBytes);
  cu_stream s = make_stream(), t = make_stream();

  Checked() {
    control.set_check(true);
    for (cu_deviceptr p : {a, b}) CU(fill_async, p, 0, kBytes, nullptr);
    CU(context_synchronize);
  }
  ~Checked() {
    STATUS(context_synchronize);
    for (cu_stream stream : {s, t}) STATUS(stream_destroy, stream);
    for (cu_deviceptr p : {a, b}) STATUS(memory_free, p);
  }

  template <class F> void check_report(const F& f, const std::string& expected) {
    const std::string words = test::last_words([&] {
      f();
      STATUS(context_synchronize);
    });
    BOOST_CHECK_MESSAGE(test::contains_match(words, expected), "expected: " << expected << "\nreported: " << words);
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(software_access, Checked)

BOOST_AUTO_TEST_CASE(outside_the_allocation) {
  check_report([&] { write.launch(1, 1, s, a, 16); },
               "software cuda: kernel write on stream 0x[0-9a-f]+ writes 4 bytes at 0x[0-9a-f]+, 0 bytes PAST the end "
               "of an allocation of 64 "
               "bytes at write.cu:2\n");
  check_report([&] { read.launch(1, 1, nullptr, a, 20, b); },
               "kernel read on stream 0 reads 4 bytes at 0x[0-9a-f]+, 16 bytes PAST the end of an allocation of 64 "
               "bytes at read.cu:3\n");
  // Half of it is inside.
  check_report([&] { write.launch(1, 1, s, a + 2, 15); }, "62 bytes into an allocation of 64 bytes at write.cu:2\n");
}

BOOST_AUTO_TEST_CASE(in_freed_memory) {
  const cu_deviceptr freed = allocate(kBytes);
  CU(memory_free, freed);
  check_report([&] { write.launch(1, 1, s, freed, 1); },
               "writes 4 bytes at 0x[0-9a-f]+, 4 bytes into a freed allocation of 64 bytes at write.cu:2\n");
}

BOOST_AUTO_TEST_CASE(in_memory_of_the_host) {
  static int host[4] = {};
  const std::vector<int> heap(1000);
  check_report([&] { write.launch(1, 1, s, host, 1); },
               "kernel write .* writes 4 bytes at 0x[0-9a-f]+, outside any allocation at write.cu:2\n");
  check_report([&] { read.launch(1, 1, s, heap.data(), 1, b); },
               "reads 4 bytes at 0x[0-9a-f]+, outside any allocation at read.cu:3\n");
}

BOOST_AUTO_TEST_CASE(the_program_may_go_on) {
  control.set_report_mode(OnReport::error);
  BOOST_REQUIRE_EQUAL(write.launch(1, 1, s, a, 16), cu_success);
  BOOST_CHECK_EQUAL(STATUS(stream_synchronize, s), cu_error_illegal_address);
  BOOST_CHECK_NE(control.last_report().find("write.cu:2"), std::string::npos);
  control.clear_faults();
}

BOOST_AUTO_TEST_CASE(kernels_without_order) {
  check_report(
      [&] {
        write.launch(1, 1, s, a, 3);
        read.launch(1, 1, t, a, 3, b);
      },
      "software cuda: kernel read on stream 0x[0-9a-f]+ and kernel write on stream 0x[0-9a-f]+ use the same memory and "
      "nothing orders "
      "them: "
      "0x[0-9a-f]+, 12 bytes into an allocation of 64 bytes\n  kernel read reads at read.cu:3\n  kernel write writes "
      "at write.cu:2\n");
  check_report(
      [&] {
        CU(fill_async, a, 1, kBytes, s);
        write.launch(1, 1, t, a, 0);
      },
      "kernel write .* and a fill .*nothing orders them.*\n  kernel write writes at write.cu:2\n  a fill writes\n");
}

// A fault that a pool must not have: the memory goes from one stream to another without an event.
BOOST_AUTO_TEST_CASE(memory_that_changes_its_stream) {
  const cu_event done = make_event();
  check_report(
      [&] {
        write.launch(1, 1, s, a, 3);
        CU(event_record, done, s);
        write.launch(1, 1, s, a, 4);
        CU(stream_wait_event, t, done, 0);
        write.launch(1, 1, t, a, 3);  // waits for the first only
        write.launch(1, 1, t, a, 4);
      },
      "nothing orders them: 0x[0-9a-f]+, 16 bytes into an allocation of 64 bytes\n  kernel write writes at "
      "write.cu:2\n");
  CU(event_destroy, done);
}

BOOST_AUTO_TEST_CASE(what_is_ordered_or_only_read) {
  const cu_event done = make_event();
  write.launch(1, 1, s, a, 3);
  CU(event_record, done, s);
  CU(stream_wait_event, t, done, 0);
  read.launch(1, 1, t, a, 3, b);
  read.launch(1, 1, s, a, 3, b + 4);  // both streams read, each writes an element of its own
  CU(stream_synchronize, s);
  CU(stream_synchronize, t);
  write.launch(1, 1, nullptr, a, 3);
  CU(context_synchronize);
  BOOST_CHECK_EQUAL(download<int>(b, 2)[0], 1);
  BOOST_CHECK_EQUAL(download<int>(b, 2)[1], 1);
  CU(event_destroy, done);
}

BOOST_AUTO_TEST_SUITE_END()
