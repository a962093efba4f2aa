// The software CUDA device by its driver's functions: stream-ordered allocation, its pools, managed memory, priorities
// of streams.
#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

#include <catena/tests/support/cuda_device/driver_calls.h>

namespace {

using namespace cuda_device;

struct Fixture : OnDevice {
  cu_stream s = make_stream(), t = make_stream();
  cu_memory_pool pool = nullptr;
  Fixture() {
    cu_memory_pool_properties p;
    p.allocation_type = cu_memory_allocation_pinned;
    p.location = {cu_location_device, 0};
    CU(memory_pool_create, &pool, &p);
  }
  ~Fixture() {
    STATUS(memory_pool_destroy, pool);
    STATUS(stream_destroy, s);
    STATUS(stream_destroy, t);
  }
  cu_deviceptr take(std::size_t bytes, cu_stream stream) const {
    cu_deviceptr p = 0;
    CU(memory_allocate_from_pool, &p, bytes, pool, stream);
    return p;
  }
  unsigned long long get(int attribute) const {
    unsigned long long value = 0;
    CU(memory_pool_get_attribute, pool, attribute, &value);
    return value;
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(software_pools, Fixture)

BOOST_AUTO_TEST_CASE(a_block_is_freed_in_the_order_of_its_stream) {
  const cu_deviceptr p = take(1000, s);
  CU(fill_async, p, 5, 1000, s);
  CU(memory_free_async, p, s);
  BOOST_CHECK_EQUAL(get(cu_pool_used_current), 1000u);  // the stream has not reached the free
  CU(stream_synchronize, s);
  BOOST_CHECK_EQUAL(get(cu_pool_used_current), 0u);
  BOOST_CHECK_EQUAL(STATUS(fill_async, p, 5, 1000, s), cu_error_invalid_value);
  BOOST_CHECK_EQUAL(STATUS(memory_free_async, p, s), cu_error_invalid_value);
  const cu_deviceptr other = allocate(64);
  BOOST_CHECK_EQUAL(STATUS(memory_free_async, other, s), cu_error_invalid_value);  // not of a pool
  CU(memory_free, other);
}

BOOST_AUTO_TEST_CASE(work_that_the_free_does_not_follow_is_reported) {
  control.set_report_mode(OnReport::error);
  control.set_check(true);
  const cu_deviceptr p = take(1000, s);
  CU(stream_synchronize, s);
  CU(fill_async, p, 1, 1000, t);
  CU(memory_free_async, p, s);
  CU(stream_synchronize, s);
  BOOST_CHECK_NE(STATUS(stream_synchronize, t), cu_success);
  BOOST_CHECK_NE(control.last_report().find("freed allocation of 1000 bytes"), std::string::npos);
  control.clear_faults();
}

BOOST_AUTO_TEST_CASE(attributes_of_pools) {
  BOOST_CHECK_EQUAL(get(cu_pool_release_threshold), 0u);
  unsigned long long kept = 600, zero = 0;
  CU(memory_pool_set_attribute, pool, cu_pool_release_threshold, &kept);
  const cu_deviceptr p = take(1000, s), q = take(500, s);
  BOOST_CHECK_EQUAL(get(cu_pool_reserved_current), 1500u);
  CU(memory_free_async, p, s);
  CU(stream_synchronize, s);
  BOOST_CHECK_EQUAL(get(cu_pool_used_current), 500u);
  BOOST_CHECK_EQUAL(get(cu_pool_reserved_current), 600u);
  BOOST_CHECK_EQUAL(get(cu_pool_used_high), 1500u);
  BOOST_CHECK_EQUAL(get(cu_pool_reserved_high), 1500u);
  CU(memory_pool_set_attribute, pool, cu_pool_used_high, &zero);
  CU(memory_pool_set_attribute, pool, cu_pool_reserved_high, &zero);
  BOOST_CHECK_EQUAL(get(cu_pool_used_high), 500u);
  BOOST_CHECK_EQUAL(get(cu_pool_reserved_high), 600u);
  CU(memory_pool_trim_to, pool, 0);
  BOOST_CHECK_EQUAL(get(cu_pool_reserved_current), 500u);
  BOOST_CHECK_EQUAL(STATUS(memory_pool_set_attribute, pool, cu_pool_used_high, &kept), cu_error_invalid_value);
  BOOST_CHECK_EQUAL(STATUS(memory_pool_set_attribute, pool, cu_pool_used_current, &zero), cu_error_invalid_value);
  BOOST_CHECK_EQUAL(STATUS(memory_pool_get_attribute, pool, 99, &zero), cu_error_invalid_value);
  CU(memory_free, q);  // waits, and takes blocks of pools as well
  BOOST_CHECK_EQUAL(get(cu_pool_used_current), 0u);
}

BOOST_AUTO_TEST_CASE(pools_of_devices) {
  cu_memory_pool current = nullptr, standard = nullptr;
  CU(device_get_memory_pool, &current, 1);
  CU(device_get_default_memory_pool, &standard, 1);
  BOOST_CHECK_EQUAL(current, standard);
  BOOST_CHECK_EQUAL(STATUS(memory_pool_destroy, standard), cu_error_invalid_value);
  BOOST_CHECK_EQUAL(STATUS(device_get_memory_pool, &current, 2), cu_error_invalid_device);
  cu_memory_pool_properties wrong;
  BOOST_CHECK_EQUAL(STATUS(memory_pool_create, &current, &wrong), cu_error_invalid_value);
}

BOOST_AUTO_TEST_CASE(memory_runs_out) {
  control.set_memory(0, 4000);
  const cu_deviceptr p = take(3000, s);
  CU(memory_free_async, p, s);
  const cu_deviceptr q = take(3000, s);  // the free comes first on the stream
  cu_deviceptr more = 0;
  BOOST_CHECK_EQUAL(STATUS(memory_allocate_from_pool, &more, 3000, pool, s), cu_error_out_of_memory);
  CU(memory_free_async, q, s);
  CU(stream_synchronize, s);
  control.set_memory(0, std::size_t(3) << 30);
}

BOOST_AUTO_TEST_CASE(captures_take_no_blocks) {
  CU(stream_begin_capture, s, cu_capture_relaxed);
  cu_deviceptr p = 0;
  BOOST_CHECK_EQUAL(STATUS(memory_allocate_from_pool, &p, 100, pool, s), cu_error_stream_capture_unsupported);
  cu_graph graph = nullptr;
  BOOST_CHECK_EQUAL(STATUS(stream_end_capture, s, &graph), cu_error_stream_capture_invalidated);
}

BOOST_AUTO_TEST_CASE(managed_memory) {
  cu_deviceptr p = 0;
  CU(memory_allocate_managed, &p, 8192, cu_attach_global);
  BOOST_CHECK_EQUAL(STATUS(memory_allocate_managed, &p, 8192, 0), cu_error_invalid_value);
  auto* const bytes = reinterpret_cast<unsigned char*>(p);
  bytes[0] = 3;
  CU(fill_async, p + 4096, 9, 4096, s);
  CU(stream_synchronize, s);
  BOOST_CHECK_EQUAL(int(bytes[8191]), 9);
  BOOST_CHECK_EQUAL(int(bytes[0]), 3);
  unsigned type = 0;
  int managed = 0;
  int attributes[] = {cu_pointer_memory_type, cu_pointer_is_managed};
  void* values[] = {&type, &managed};
  CU(pointer_get_attributes, 2, attributes, values, p + 5);
  BOOST_CHECK_EQUAL(type, cu_memory_device);
  BOOST_CHECK_EQUAL(managed, 1);
  CU(memory_prefetch, p, 8192, cu_memory_location{cu_location_host, 0}, 0, s);
  CU(memory_prefetch, p, 4096, cu_memory_location{cu_location_device, 1}, 0, s);
  CU(memory_advise, p, 8192, cu_advise_set_read_mostly, cu_memory_location{cu_location_device, 0});
  BOOST_CHECK_EQUAL(STATUS(memory_prefetch, p, 8193, cu_memory_location{cu_location_host, 0}, 0, s),
                    cu_error_invalid_value);
  BOOST_CHECK_EQUAL(STATUS(memory_prefetch, p, 1, cu_memory_location{cu_location_device, 2}, 0, s),
                    cu_error_invalid_device);
  BOOST_CHECK_EQUAL(STATUS(memory_advise, p, 1, 7, cu_memory_location{cu_location_host, 0}), cu_error_invalid_value);
  const cu_deviceptr other = allocate(64);
  BOOST_CHECK_EQUAL(STATUS(memory_prefetch, other, 64, cu_memory_location{cu_location_host, 0}, 0, s),
                    cu_error_invalid_value);
  CU(memory_free, other);
  BOOST_CHECK_EQUAL(STATUS(host_free, bytes), cu_error_invalid_value);  // not pinned
  CU(memory_free, p);
}

BOOST_AUTO_TEST_CASE(priorities) {
  int least = -1, greatest = 0, priority = 9;
  CU(context_get_stream_priority_range, &least, &greatest);
  BOOST_CHECK_EQUAL(least, 0);
  BOOST_CHECK_LT(greatest, -1);
  for (const auto& [wanted, given] : {std::pair{-1, -1}, {3, 0}, {-100, greatest}}) {
    cu_stream stream = nullptr;
    CU(stream_create_with_priority, &stream, cu_stream_non_blocking, wanted);
    CU(stream_get_priority, stream, &priority);
    BOOST_CHECK_EQUAL(priority, given);
    unsigned flags = 0;
    CU(stream_get_flags, stream, &flags);
    BOOST_CHECK_EQUAL(flags, cu_stream_non_blocking);
    CU(stream_destroy, stream);
  }
  CU(stream_get_priority, nullptr, &priority);
  BOOST_CHECK_EQUAL(priority, 0);
  BOOST_CHECK_EQUAL(STATUS(stream_create_with_priority, nullptr, 0, 0), cu_error_invalid_value);
}

BOOST_AUTO_TEST_SUITE_END()
