// The software CUDA device by its driver's functions: devices, contexts, memory, misuse, failures that were planned.
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include <catena/kernels/base/error.h>
#include <catena/tests/support/cuda_device/driver_calls.h>
#include <catena/tests/support/last_words.h>

namespace {

using namespace cuda_device;
using nd::cuda::driver;

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

constexpr int kReadLine = __LINE__ + 1;
[[gnu::noinline]] int read_by_host(const volatile int* p) { return *p; }

// Any entry point with zeros for arguments.
template <class R, class... A> R call_with_zeros(R (*function)(A...)) { return function(A{}...); }

struct NamedEntry {
  const char* name;
  cu_result (*call)();
};
#define NAMED_ENTRY(symbol, field, ...) NamedEntry{#symbol, [] { return call_with_zeros(driver().field); }},
const NamedEntry kEntries[] = {CATENA_DRIVER_FUNCTIONS(NAMED_ENTRY) CATENA_DRIVER_OPTIONAL_FUNCTIONS(NAMED_ENTRY)};
#undef NAMED_ENTRY

}  // namespace

BOOST_FIXTURE_TEST_SUITE(software_device, OnDevice)

BOOST_AUTO_TEST_CASE(devices_and_contexts) {
  BOOST_CHECK_EQUAL(driver().device_count, 2);
  BOOST_CHECK_EQUAL(driver().version, 13000);
  int value = 0;
  for (const auto& [attribute, expected] : {std::pair{cu_compute_capability_major, 9},
                                            {cu_compute_capability_minor, 0},
                                            {cu_multiprocessor_count, 2},
                                            {cu_warp_size, 32},
                                            {cu_max_threads_per_block, 1024},
                                            {cu_max_shared_memory_per_block_optin, 65536}}) {
    CU(device_get_attribute, &value, attribute, 1);
    BOOST_CHECK_EQUAL(value, expected);
  }
  BOOST_CHECK_EQUAL(STATUS(device_get_attribute, &value, cu_warp_size, 2), cu_error_invalid_device);
  BOOST_CHECK_EQUAL(STATUS(device_get_attribute, &value, 9999, 0), cu_error_invalid_value);
  char name[12] = {};
  CU(device_get_name, name, sizeof name, 1);
  BOOST_CHECK_EQUAL(name, "Software CU");
  CU(device_can_access_peer, &value, 0, 1);
  BOOST_CHECK_EQUAL(value, 1);
  CU(device_can_access_peer, &value, 1, 1);
  BOOST_CHECK_EQUAL(value, 0);

  cu_context now = nullptr;
  CU(context_get_current, &now);
  BOOST_CHECK_EQUAL(now, context[0]);
  std::thread([&] {  // no context is current on a new thread
    cu_context none = context[0];
    BOOST_CHECK_EQUAL(STATUS(context_get_current, &none), cu_success);
    BOOST_CHECK(none == nullptr);
    cu_deviceptr address = 0;
    BOOST_CHECK_EQUAL(STATUS(memory_allocate, &address, 16), cu_error_invalid_context);
    BOOST_CHECK_EQUAL(STATUS(context_set_current, reinterpret_cast<cu_context>(&address)), cu_error_invalid_context);
  })
      .join();
}

BOOST_AUTO_TEST_CASE(errors_have_names) {
  for (const auto& [code, expected] : {std::pair{cu_success, "CUDA_SUCCESS"},
                                       {cu_error_not_ready, "CUDA_ERROR_NOT_READY"},
                                       {cu_error_illegal_address, "CUDA_ERROR_ILLEGAL_ADDRESS"}}) {
    const char *name = nullptr, *text = nullptr;
    CU(get_error_name, code, &name);
    CU(get_error_string, code, &text);
    BOOST_CHECK_EQUAL(name, expected);
    BOOST_CHECK_GT(std::strlen(text), 5u);
  }
  const char* name = "";
  BOOST_CHECK_EQUAL(STATUS(get_error_name, 12345, &name), cu_error_invalid_value);
  BOOST_CHECK(name == nullptr);
}

BOOST_AUTO_TEST_CASE(memory_is_fresh_aligned_and_counted) {
  std::size_t before = 0, total = 0, after = 0;
  CU(memory_get_info, &before, &total);
  const cu_deviceptr a = allocate(1000), b = allocate(3);
  CU(memory_get_info, &after, &total);
  BOOST_CHECK_EQUAL(before - after, 1003u);
  BOOST_CHECK_EQUAL(a % 256, 0u);
  BOOST_CHECK_EQUAL(b % 256, 0u);
  BOOST_CHECK_GE(b, a + 1000);
  for (unsigned char byte : download<unsigned char>(a, 1000)) BOOST_REQUIRE_EQUAL(byte, 0xCD);
  CU(memory_free, a);
  CU(memory_free, b);
  CU(memory_get_info, &after, &total);
  BOOST_CHECK_EQUAL(before, after);
  const cu_deviceptr c = allocate(1000);
  BOOST_CHECK(c != a);
  CU(memory_free, c);
}

BOOST_AUTO_TEST_CASE(memory_runs_out_at_the_limit) {
  control.set_memory(1, 1 << 20);
  CU(context_set_current, context[1]);
  const cu_deviceptr a = allocate(3 << 18);
  cu_deviceptr b = 7;
  BOOST_CHECK_EQUAL(STATUS(memory_allocate, &b, (1 << 18) + 1), cu_error_out_of_memory);
  BOOST_CHECK_EQUAL(STATUS(memory_allocate, &b, SIZE_MAX), cu_error_out_of_memory);
  BOOST_CHECK_EQUAL(b, 7u);
  CU(memory_allocate, &b, 1 << 18);
  CU(memory_free, a);
  CU(memory_free, b);
  std::size_t total = 0;
  CU(device_total_memory, &total, 1);
  BOOST_CHECK_EQUAL(total, std::size_t(1) << 20);
  control.set_memory(1, std::size_t(3) << 30);
  BOOST_CHECK_THROW(control.set_memory(2, 1), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(pointers_are_known) {
  const cu_deviceptr a = allocate(100);
  auto* pinned = allocate_pinned<char>(100);
  CU(context_set_current, context[1]);
  const cu_deviceptr b = allocate(8);
  const auto ask = [&](cu_deviceptr address) {
    unsigned type = 7;
    int device = -1, attributes[] = {cu_pointer_memory_type, cu_pointer_device_ordinal};
    void* values[] = {&type, &device};
    CU(pointer_get_attributes, 2, attributes, values, address);
    return std::pair(type, device);
  };
  BOOST_CHECK(ask(a + 99) == std::pair(cu_memory_device, 0));
  BOOST_CHECK(ask(b) == std::pair(cu_memory_device, 1));
  BOOST_CHECK(ask(reinterpret_cast<cu_deviceptr>(pinned)) == std::pair(cu_memory_host, 0));
  int local = 0;
  const std::pair unknown(0u, -2);
  BOOST_CHECK(ask(reinterpret_cast<cu_deviceptr>(&local)) == unknown);
  BOOST_CHECK(ask(a + 100) == unknown);
  int attribute = 77;
  void* value = &local;
  BOOST_CHECK_EQUAL(STATUS(pointer_get_attributes, 1, &attribute, &value, a), cu_error_invalid_value);
  CU(memory_free, a);
  BOOST_CHECK(ask(a) == unknown);
  CU(memory_free, b);
  CU(host_free, pinned);
}

BOOST_AUTO_TEST_CASE(misuse_has_the_drivers_codes) {
  const cu_deviceptr a = allocate(64);
  char host[128] = {};
  cu_deviceptr none = 0;
  BOOST_CHECK_EQUAL(STATUS(memory_allocate, &none, 0), cu_error_invalid_value);
  BOOST_CHECK_EQUAL(STATUS(memory_free, a + 8), cu_error_invalid_value);
  BOOST_CHECK_EQUAL(STATUS(host_free, host), cu_error_invalid_value);
  BOOST_CHECK_EQUAL(STATUS(copy_to_device, a, host, 65), cu_error_invalid_value);
  BOOST_CHECK_EQUAL(STATUS(copy_to_device, a + 60, host, 5), cu_error_invalid_value);
  BOOST_CHECK_EQUAL(STATUS(copy_to_host, host, a - 1, 2), cu_error_invalid_value);
  BOOST_CHECK_EQUAL(STATUS(copy_to_host, reinterpret_cast<void*>(a), a, 2), cu_error_invalid_value);
  BOOST_CHECK_EQUAL(STATUS(fill_async, a, 0, 65, nullptr), cu_error_invalid_value);

  const cu_stream stream = make_stream();
  const cu_event event = make_event();
  CU(stream_destroy, stream);
  CU(event_destroy, event);
  BOOST_CHECK_EQUAL(STATUS(stream_destroy, stream), cu_error_invalid_handle);
  control.set_report_mode(cuda_device::OnReport::error);
  BOOST_CHECK_EQUAL(STATUS(stream_synchronize, stream), cu_error_invalid_handle);
  BOOST_CHECK_EQUAL(STATUS(fill_async, a, 0, 4, stream), cu_error_invalid_handle);
  BOOST_CHECK(control.last_report().starts_with("a stream is used that was destroyed"));
  control.set_report_mode(cuda_device::OnReport::abort);
  BOOST_CHECK_EQUAL(STATUS(event_record, event, nullptr), cu_error_invalid_handle);
  cu_stream fresh = nullptr;
  BOOST_CHECK_EQUAL(STATUS(stream_create, &fresh, 8), cu_error_invalid_value);
  cu_module module = nullptr;
  BOOST_CHECK_EQUAL(STATUS(module_load_data, &module, "no image of this device"), cu_error_invalid_image);

  const cu_event here = make_event();
  CU(context_set_current, context[1]);
  const cu_stream there = make_stream();
  BOOST_CHECK_EQUAL(STATUS(event_record, here, there), cu_error_invalid_handle);  // another device's
  CU(stream_destroy, there);
  CU(context_set_current, context[0]);
  CU(event_destroy, here);
  CU(memory_free, a);
  BOOST_CHECK_EQUAL(STATUS(memory_free, a), cu_error_invalid_value);
  BOOST_CHECK_EQUAL(STATUS(copy_to_host, host, a, 1), cu_error_invalid_value);
}

BOOST_AUTO_TEST_CASE(copies_between_devices) {
  const std::array<int, 4> in{1, 2, 3, 4};
  const cu_deviceptr a = allocate(16);
  CU(copy_to_device, a, in.data(), 16);
  CU(context_set_current, context[1]);
  const cu_deviceptr b = allocate(16);
  CU(copy_peer_async, b, context[1], a, context[0], 16, nullptr);
  BOOST_CHECK(download<int>(b, 4) == std::vector<int>(in.begin(), in.end()));
  BOOST_CHECK_EQUAL(STATUS(copy_peer_async, b, context[0], a, context[1], 16, nullptr), cu_error_invalid_value);
  CU(context_enable_peer_access, context[0], 0);
  BOOST_CHECK_EQUAL(STATUS(context_enable_peer_access, context[0], 0), cu_error_peer_access_already_enabled);
  CU(memory_free, a);
  CU(memory_free, b);
}

BOOST_AUTO_TEST_CASE(kernels_run_and_are_recorded) {
  const Kernel add("add", kAddText);
  const int n = 1000;
  const cu_deviceptr a = allocate(n * sizeof(int));
  const cu_stream stream = make_stream();
  CU(fill_async, a, 0, n * sizeof(int), stream);
  control.reset_records();
  BOOST_REQUIRE_EQUAL(add.launch(8, 128, stream, a, 5, n), cu_success);
  BOOST_REQUIRE_EQUAL(add.launch(4, 256, stream, a, 2, n), cu_success);
  BOOST_CHECK(control.synchronisations().empty());
  BOOST_CHECK_EQUAL(control.calls("cuLaunchKernel"), 2u);
  BOOST_CHECK_EQUAL(control.calls("kernel"), 0u);  // nothing needed them yet
  CU(stream_synchronize, stream);
  BOOST_CHECK_EQUAL(control.calls("kernel"), 2u);
  BOOST_CHECK(control.synchronisations() == std::vector<std::string>{"cuStreamSynchronize"});
  const auto launches = control.launches();
  BOOST_REQUIRE_EQUAL(launches.size(), 2u);
  BOOST_CHECK_EQUAL(launches[0].kernel, "add");
  BOOST_CHECK_EQUAL(launches[1].grid[0], 4u);
  BOOST_CHECK_EQUAL(launches[1].block[0], 256u);
  BOOST_CHECK_EQUAL(launches[1].stream, stream);
  for (int v : download<int>(a, n)) BOOST_REQUIRE_EQUAL(v, 7);

  int value = 0;
  CU(function_get_attribute, &value, cu_function_max_threads_per_block, add.function);
  BOOST_CHECK_EQUAL(value, 1024);
  CU(function_set_attribute, add.function, cu_function_max_dynamic_shared_bytes, 60000);
  CU(function_get_attribute, &value, cu_function_max_dynamic_shared_bytes, add.function);
  BOOST_CHECK_EQUAL(value, 60000);
  BOOST_CHECK_EQUAL(STATUS(function_set_attribute, add.function, cu_function_max_dynamic_shared_bytes, 70000),
                    cu_error_invalid_value);
  BOOST_CHECK_EQUAL(add.launch(0, 32, stream, a, 1, n), cu_error_invalid_value);
  BOOST_CHECK_EQUAL(add.launch(1, 1025, stream, a, 1, n), cu_error_invalid_value);
  CU(context_set_current, context[1]);
  BOOST_CHECK_EQUAL(add.launch(1, 32, nullptr, a, 1, n), cu_error_invalid_handle);  // a function of the other device
  CU(context_set_current, context[0]);
  cu_function unknown = nullptr;
  BOOST_CHECK_EQUAL(STATUS(module_get_function, &unknown, add.module, "subtract"), cu_error_not_found);
  CU(stream_destroy, stream);
  CU(memory_free, a);
}

BOOST_AUTO_TEST_CASE(globals_are_device_memory) {
  const Kernel kernel(
      "read_scale", "__device__ int scale = 3;\nextern \"C\" __global__ void read_scale(int* out) { *out = scale; }\n");
  cu_deviceptr global = 0;
  std::size_t bytes = 0;
  CU(module_get_global, &global, &bytes, kernel.module, "scale");
  BOOST_REQUIRE_EQUAL(bytes, sizeof(int));
  BOOST_CHECK_EQUAL(download<int>(global, 1)[0], 3);
  const int five = 5;
  CU(copy_to_device, global, &five, sizeof five);
  const cu_deviceptr out = allocate(sizeof(int));
  BOOST_REQUIRE_EQUAL(kernel.launch(1, 1, nullptr, out), cu_success);
  BOOST_CHECK_EQUAL(download<int>(out, 1)[0], 5);
  BOOST_CHECK_EQUAL(STATUS(module_get_global, &global, &bytes, kernel.module, "offset"), cu_error_not_found);
  CU(memory_free, out);
}

// ---- planned failures ---------------------------------------------------------------------------
BOOST_AUTO_TEST_CASE(every_entry_point_fails_where_it_was_planned) {
  const int code = 46;  // that no call returns by itself
  for (const NamedEntry& entry : kEntries) {
    BOOST_TEST_CONTEXT(entry.name) {
      control.reset_records();
      control.fail(entry.name, 2, code);
      BOOST_CHECK_NE(entry.call(), code);
      BOOST_CHECK_EQUAL(entry.call(), code);
      BOOST_CHECK_NE(entry.call(), code);
      BOOST_CHECK_EQUAL(control.calls(entry.name), 3u);
      control.fail(entry.name, 1, code, true);
      for (int k = 0; k < 3; ++k) BOOST_CHECK_EQUAL(entry.call(), code);
      control.clear_faults();
      BOOST_CHECK_NE(entry.call(), code);
      CU(context_set_current, context[0]);
    }
  }
  BOOST_CHECK_THROW(control.fail("cuNothing", 1, 2), catena::ValueError);
  BOOST_CHECK_THROW(control.fail("cuInit", 0, 2), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(a_failed_call_changes_nothing) {
  std::size_t before = 0, after = 0, total = 0;
  CU(memory_get_info, &before, &total);
  control.fail("cuMemAlloc_v2", 1, cu_error_out_of_memory);
  cu_deviceptr address = 7;
  BOOST_CHECK_EQUAL(STATUS(memory_allocate, &address, 64), cu_error_out_of_memory);
  BOOST_CHECK_EQUAL(address, 7u);
  CU(memory_get_info, &after, &total);
  BOOST_CHECK_EQUAL(before, after);
}

BOOST_AUTO_TEST_CASE(a_context_does_not_survive_a_failed_kernel) {
  const Kernel add("add", kAddText);
  const cu_deviceptr a = allocate(64);
  control.fail("kernel", 1, cu_error_launch_failed);
  BOOST_CHECK_EQUAL(add.launch(1, 16, nullptr, a, 1, 16), cu_success);  // it fails later
  int ran = 0;
  CU(
      launch_host_function, nullptr, [](void* p) { ++*static_cast<int*>(p); }, &ran);
  BOOST_CHECK_EQUAL(STATUS(context_synchronize), cu_error_launch_failed);
  BOOST_CHECK_EQUAL(ran, 0);
  cu_deviceptr b = 0;
  BOOST_CHECK_EQUAL(STATUS(memory_allocate, &b, 64), cu_error_launch_failed);
  BOOST_CHECK_EQUAL(STATUS(memory_free, a), cu_error_launch_failed);
  CU(context_set_current, context[1]);  // the other device is well
  CU(memory_free, allocate(64));
  CU(context_set_current, context[0]);
  control.clear_faults();
  for (unsigned char byte : download<unsigned char>(a, 64)) BOOST_REQUIRE_EQUAL(byte, 0xCD);  // the kernel did not run
  CU(memory_free, a);
}

BOOST_AUTO_TEST_CASE(a_planned_fatal_failure_stays) {
  control.fail("cuStreamCreate", 1, cu_error_ecc_uncorrectable, true);
  cu_stream stream = nullptr;
  BOOST_CHECK_EQUAL(STATUS(stream_create, &stream, 0), cu_error_ecc_uncorrectable);
  BOOST_CHECK_EQUAL(STATUS(context_synchronize), cu_error_ecc_uncorrectable);
  control.clear_faults();
  CU(context_synchronize);
}

// ---- planted errors -----------------------------------------------------------------------------
BOOST_AUTO_TEST_CASE(the_host_touches_device_memory) {
  const cu_deviceptr a = allocate(100);
  const auto* p = reinterpret_cast<const volatile int*>(a);
  const std::string text = test::last_words([&] { read_by_host(p + 3); });
  BOOST_CHECK_MESSAGE(contains(text, "software cuda: the host touched device memory at 0x"), text);
  BOOST_CHECK_MESSAGE(contains(text, ", 12 bytes into an allocation of 100 bytes\n"), text);
  BOOST_CHECK_MESSAGE(contains(text, "read_by_host"), text);
  BOOST_CHECK_MESSAGE(contains(text, "software_device_test.cpp:" + std::to_string(kReadLine)), text);
  // Where the address sanitizer is at work it sees these two first.
#if defined(__SANITIZE_ADDRESS__)
  const char *past = "use-after-poison", *freed = past;
#else
  const char *past = ", 4 bytes PAST the end of an allocation of 100 bytes\n",
             *freed = ", 0 bytes into a freed allocation of 100 bytes\n";
#endif
  BOOST_CHECK(contains(test::last_words([&] { read_by_host(p + 26); }), past));
  CU(memory_free, a);
  BOOST_CHECK(contains(test::last_words([&] { read_by_host(p); }), freed));
}

BOOST_AUTO_TEST_CASE(host_functions_touch_device_memory) {
  const cu_deviceptr a = allocate(4);
  const auto function = [](void* p) { read_by_host(static_cast<const volatile int*>(p)); };
  const std::string text = test::last_words([&] {
    STATUS(launch_host_function, nullptr, function, reinterpret_cast<void*>(a));
    STATUS(context_synchronize);
  });
  BOOST_CHECK_MESSAGE(contains(text, "the host touched device memory"), text);
  BOOST_CHECK_MESSAGE(contains(text, "software_device_test.cpp:" + std::to_string(kReadLine)), text);
  CU(memory_free, a);
}

BOOST_AUTO_TEST_CASE(other_faults_go_where_they_went) {
  const std::string text = test::last_words([] {
    std::signal(SIGSEGV, SIG_DFL);
    read_by_host(reinterpret_cast<const volatile int*>(64));
  });
  BOOST_CHECK_MESSAGE(!contains(text, "software cuda"), text);
}

BOOST_AUTO_TEST_CASE(a_kernel_leaves_its_memory) {
  const Kernel poke("poke", "extern \"C\" __global__ void poke(int* p, long long i) { p[i] = 1; }\n");
  const cu_deviceptr a = allocate(64);
  const long long far = 1ll << 32;  // elements
  const std::string text = test::last_words([&] {
    poke.launch(1, 1, nullptr, a, far);
    STATUS(context_synchronize);
  });
  BOOST_CHECK_MESSAGE(contains(text, "software cuda: kernel poke on stream 0 touches 0x"), text);
  BOOST_CHECK_MESSAGE(contains(text, "PAST the end of an allocation of 64 bytes"), text);

  control.set_report_mode(OnReport::error);
  BOOST_REQUIRE_EQUAL(poke.launch(1, 1, nullptr, a, far), cu_success);
  BOOST_CHECK_EQUAL(STATUS(context_synchronize), cu_error_illegal_address);
  BOOST_CHECK_EQUAL(STATUS(context_synchronize), cu_error_illegal_address);
  BOOST_CHECK(contains(control.last_report(), "kernel poke on stream 0 touches 0x"));
  control.clear_faults();
  CU(memory_free, a);
}

BOOST_AUTO_TEST_SUITE_END()

// The variable is read when the library is loaded: by a program of its own, which runs the first of these.
BOOST_AUTO_TEST_CASE(two_allocations) {
  cu_context context = nullptr;
  CU(primary_context_retain, &context, 0);
  CU(context_set_current, context);
  const cu_deviceptr a = allocate(64), b = allocate(64);
  CU(memory_free, a);
  CU(memory_free, b);
}

BOOST_AUTO_TEST_CASE(failures_are_planned_by_the_environment) {
  const auto run = [](const std::string& plan) {
    const std::string program = boost::unit_test::framework::master_test_suite().argv[0];
    return std::system(
        ("CATENA_SOFTWARE_CUDA_FAIL='" + plan + "' '" + program + "' --run_test=two_allocations >/dev/null 2>&1")
            .c_str());
  };
  BOOST_CHECK_EQUAL(run("cuStreamCreate:1:2"), 0);  // is not called
  BOOST_CHECK_EQUAL(run("cuMemAlloc_v2:3:2"), 0);
  BOOST_CHECK_NE(run("cuMemAlloc_v2:2:2"), 0);
  BOOST_CHECK_NE(run("cuStreamCreate:1:2,cuMemFree_v2:1:999:sticky"), 0);
  BOOST_CHECK_NE(run("cuStreamCreate:1"), 0);
  BOOST_CHECK_NE(run("cuNothing:1:2"), 0);
}
