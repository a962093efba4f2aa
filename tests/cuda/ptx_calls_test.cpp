// Calls of functions in the interpreter of PTX: variables of several calls with one name.
#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <vector>

#include <catena/tests/support/cuda_device/control.h>
#include <catena/tests/support/cuda_device/driver_calls.h>

namespace {

using namespace cuda_device;

// one(a) = a + 1, and four(a) = {a, a + 2, a + 4, a + 8}, which needs more memory and a larger alignment.
constexpr const char* kText = R"(
.version 7.8
.target sm_75
.address_size 64
.func (.param .b64 func_retval0) one(.param .b64 one_0)
{
.reg .b64 %l<4>;
ld.param.u64 %l0, [one_0];
add.s64 %l1, %l0, 1;
st.param.u64 [func_retval0], %l1;
ret;
}
.func (.param .align 16 .b8 func_retval0[32]) four(.param .b64 four_0)
{
.reg .b64 %l<8>;
ld.param.u64 %l0, [four_0];
add.s64 %l1, %l0, 2;
add.s64 %l2, %l0, 4;
add.s64 %l3, %l0, 8;
st.param.v2.u64 [func_retval0], {%l0, %l1};
st.param.v2.u64 [func_retval0+16], {%l2, %l3};
ret;
}
.visible .entry calls(.param .u64 p_out)
{
.reg .b32 %r<4>;
.reg .b64 %l<16>;
ld.param.u64 %l0, [p_out];
mov.u32 %r0, %tid.x;
mul.wide.u32 %l1, %r0, 48;
add.s64 %l2, %l0, %l1;
cvt.u64.u32 %l3, %r0;
{
.param .b64 param0;
st.param.b64 [param0], %l3;
.param .b64 retval0;
call.uni (retval0), one, (param0);
ld.param.u64 %l4, [retval0];
}
{
.param .b64 param0;
st.param.b64 [param0], %l4;
.param .align 16 .b8 retval0[32];
call.uni (retval0), four, (param0);
ld.param.v2.u64 {%l5, %l6}, [retval0];
ld.param.v2.u64 {%l7, %l8}, [retval0+16];
}
{
.param .b64 param0;
st.param.b64 [param0], %l8;
.param .b64 retval0;
call.uni (retval0), one, (param0);
ld.param.u64 %l9, [retval0];
}
st.global.u64 [%l2], %l4;
st.global.u64 [%l2+8], %l5;
st.global.u64 [%l2+16], %l6;
st.global.u64 [%l2+24], %l7;
st.global.u64 [%l2+32], %l8;
st.global.u64 [%l2+40], %l9;
ret;
}
)";

}  // namespace

BOOST_AUTO_TEST_CASE(results_of_several_sizes_have_one_name) {
  const OnDevice device;
  constexpr unsigned threads = 40;
  const cu_deviceptr out = allocate(threads * 48);
  cu_module module = nullptr;
  cu_function function = nullptr;
  CU(module_load_data, &module, kText);
  CU(module_get_function, &function, module, "calls");
  cu_deviceptr at = out;
  void* parameters[] = {&at};
  CU(launch_kernel, function, 1, 1, 1, threads, 1, 1, 0, nullptr, parameters, nullptr);
  const std::vector<std::uint64_t> values = download<std::uint64_t>(out, threads * 6);
  for (std::uint64_t t = 0; t < threads; ++t) {
    const std::vector<std::uint64_t> expected{t + 1, t + 1, t + 3, t + 5, t + 9, t + 10};
    const std::vector<std::uint64_t> found(values.begin() + std::int64_t(6 * t),
                                           values.begin() + std::int64_t(6 * t + 6));
    BOOST_TEST(found == expected, boost::test_tools::per_element());
  }
  CU(module_unload, module);
}
