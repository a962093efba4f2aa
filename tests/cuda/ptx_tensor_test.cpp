// Instructions of a warp on tiles in the interpreter of PTX: mma.m16n8k16, ldmatrix and cp.async, against the layouts
// of fragments in the PTX ISA ("Matrix Fragments for mma.m16n8k16", "ldmatrix") and products in float64.
#include <boost/test/unit_test.hpp>

#include <bit>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <catena/kernels/bfloat16.h>
#include <catena/kernels/float16.h>
#include <catena/tests/support/cuda_device/control.h>
#include <catena/tests/support/cuda_device/driver_calls.h>

namespace {

using namespace cuda_device;
using Words = std::vector<std::uint32_t>;

constexpr unsigned kLanes = 32, kIn = 16, kOut = 4;  // words that a lane reads and writes

// One warp. Lane i has 16 words of the input in %r16 to %r31, its number in %r0, and stores %r4 to %r7. %l0 is the
// address of the input, %l2 that of the lane's part, %r8 that of 2048 bytes of shared memory.
std::string warp_kernel(const std::string& body) {
  std::string loads;
  for (unsigned k = 0; k < kIn; ++k)
    loads += "ld.global.u32 %r" + std::to_string(16 + k) + ", [%l2+" + std::to_string(4 * k) + "];\n";
  return ".version 7.8\n.target sm_90\n.address_size 64\n"
         ".visible .entry warp(.param .u64 p_in, .param .u64 p_out)\n{\n"
         ".reg .pred %p<4>;\n.reg .b32 %r<40>;\n.reg .f32 %f<8>;\n.reg .b64 %l<8>;\n.shared .align 16 .b8 s[2048];\n"
         "ld.param.u64 %l0, [p_in];\nld.param.u64 %l1, [p_out];\nmov.u32 %r0, %tid.x;\nmov.u32 %r8, s;\n"
         "mul.wide.u32 %l2, %r0, 64;\nadd.s64 %l2, %l0, %l2;\nmul.wide.u32 %l3, %r0, 16;\nadd.s64 %l3, %l1, %l3;\n"
         "mov.u32 %r4, 0;\nmov.u32 %r5, 0;\nmov.u32 %r6, 0;\nmov.u32 %r7, 0;\n" +
         loads + body + "st.global.v4.u32 [%l3], {%r4, %r5, %r6, %r7};\nret;\n}\n";
}

struct Outcome {
  Words words;
  std::string report;
};
Outcome run(const std::string& body, const Words& in) {
  OnDevice device;
  device.control.set_report_mode(OnReport::error);
  Outcome outcome;
  cu_deviceptr from = allocate(kLanes * kIn * 4), to = allocate(kLanes * kOut * 4);
  CU(copy_to_device, from, in.data(), kLanes * kIn * 4);
  cu_module module = nullptr;
  cu_function function = nullptr;
  if (STATUS(module_load_data, &module, warp_kernel(body).c_str()) == cu_success) {
    CU(module_get_function, &function, module, "warp");
    void* parameters[] = {&from, &to, nullptr};
    STATUS(launch_kernel, function, 1, 1, 1, kLanes, 1, 1, 0, nullptr, parameters, nullptr);
  }
  if (function == nullptr || STATUS(context_synchronize) != cu_success) outcome.report = device.control.last_report();
  if (module != nullptr) STATUS(module_unload, module);
  device.control.clear_faults();
  if (outcome.report.empty()) outcome.words = download<std::uint32_t>(to, kLanes * kOut);
  return outcome;
}
void check_reported(const std::string& body, const std::string& part) {
  const Outcome outcome = run(body, Words(kLanes * kIn, 0));
  BOOST_CHECK_MESSAGE(outcome.report.find(part) != std::string::npos, "reported: " << outcome.report);
}

// Input: lane i has the words 16 i to 16 i + 15.
std::uint32_t& word(Words& in, unsigned lane, unsigned k) { return in[lane * kIn + k]; }
template <class T> void put_half(std::uint32_t& word, unsigned which, float v) {
  word = (word & (which == 0 ? 0xffff0000u : 0xffffu)) | std::uint32_t(T(v).bits) << 16 * which;
}

// Words 0 to 3: a, 4 and 5: b, 6 to 9: c.
std::string product(const std::string& type) {
  std::string text;
  for (int k = 0; k < 4; ++k) text += "mov.b32 %f" + std::to_string(k) + ", %r" + std::to_string(22 + k) + ";\n";
  text += "mma.sync.aligned.m16n8k16.row.col.f32." + type + "." + type +
          ".f32 {%f4, %f5, %f6, %f7}, {%r16, %r17, %r18, %r19}, {%r20, %r21}, {%f0, %f1, %f2, %f3};\n";
  for (int k = 0; k < 4; ++k) text += "mov.b32 %r" + std::to_string(4 + k) + ", %f" + std::to_string(4 + k) + ";\n";
  return text;
}

// The ISA's formulas: element i of a lane's fragment is at (row, column).
template <class T> void check_product(const std::string& type) {
  std::mt19937 random(7);
  const auto draw = [&] { return float(T(float(int(random() % 4001) - 2000) / 512)); };
  std::vector<float> a(16 * 16), b(16 * 8), c(16 * 8);
  for (auto* m : {&a, &b, &c})
    for (float& v : *m) v = draw();
  Words in(kLanes * kIn, 0);
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const unsigned group = lane >> 2, thread = lane % 4;
    for (unsigned i = 0; i < 8; ++i) {
      const unsigned row = i < 2 || (i >= 4 && i < 6) ? group : group + 8;
      const unsigned column = thread * 2 + (i & 1) + (i < 4 ? 0 : 8);
      put_half<T>(word(in, lane, i / 2), i % 2, a[row * 16 + column]);
    }
    for (unsigned i = 0; i < 4; ++i) {
      const unsigned row = thread * 2 + (i & 1) + (i < 2 ? 0 : 8);
      put_half<T>(word(in, lane, 4 + i / 2), i % 2, b[row * 8 + group]);
    }
    for (unsigned i = 0; i < 4; ++i) {
      const unsigned row = i < 2 ? group : group + 8, column = thread * 2 + (i & 1);
      word(in, lane, 6 + i) = std::bit_cast<std::uint32_t>(c[row * 8 + column]);
    }
  }
  const Outcome outcome = run(product(type), in);
  BOOST_REQUIRE_EQUAL(outcome.report, "");
  double worst = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane)
    for (unsigned i = 0; i < 4; ++i) {
      const unsigned row = (lane >> 2) + (i < 2 ? 0 : 8), column = lane % 4 * 2 + (i & 1);
      double exact = c[row * 8 + column];
      for (unsigned k = 0; k < 16; ++k) exact += double(a[row * 16 + k]) * double(b[k * 8 + column]);
      const float got = std::bit_cast<float>(outcome.words[lane * kOut + i]);
      worst = std::max(worst, std::fabs(got - exact) / (1 + std::fabs(exact)));
    }
  BOOST_TEST(worst < 1e-7);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(ptx_tensor)

BOOST_AUTO_TEST_CASE(products_of_float16) { check_product<catena::float16>("f16"); }
BOOST_AUTO_TEST_CASE(products_of_bfloat16) { check_product<catena::bfloat16>("bf16"); }

BOOST_AUTO_TEST_CASE(products_of_infinities_and_nan) {
  Words in(kLanes * kIn, 0);
  for (unsigned lane = 0; lane < kLanes; ++lane)
    for (unsigned k = 4; k < 6; ++k) word(in, lane, k) = 0x3c003c00;  // b: all ones
  word(in, 0, 0) = 0x7c00;                                            // a[0][0]: infinite
  word(in, 4, 0) = 0xffff;                                            // a[1][0]: NaN
  const Outcome outcome = run(product("f16"), in);
  BOOST_REQUIRE_EQUAL(outcome.report, "");
  BOOST_CHECK_EQUAL(outcome.words[0], 0x7f800000u);
  BOOST_CHECK_EQUAL(outcome.words[4 * kOut + 1], 0x7fffffffu);
  BOOST_CHECK_EQUAL(outcome.words[8 * kOut], 0u);
}

// 32 rows of 8 halves, which count the elements of shared memory; lane i passes row 31 - i.
BOOST_AUTO_TEST_CASE(loads_of_matrices) {
  Words in(kLanes * kIn, 0);
  for (unsigned lane = 0; lane < kLanes; ++lane)
    for (unsigned k = 0; k < 4; ++k) {
      const std::uint32_t first = lane * 8 + 2 * k;
      word(in, lane, k) = first | (first + 1) << 16;
    }
  const std::string before =
      "mad.lo.u32 %r9, %r0, 16, %r8;\nst.shared.v4.u32 [%r9], {%r16, %r17, %r18, %r19};\nbar.warp.sync -1;\n"
      "sub.u32 %r10, 31, %r0;\nmad.lo.u32 %r9, %r10, 16, %r8;\n";
  const char* registers[] = {"", "{%r4}", "{%r4, %r5}", "", "{%r4, %r5, %r6, %r7}"};
  for (const unsigned count : {1u, 2u, 4u})
    for (const bool transposed : {false, true}) {
      const Outcome outcome = run(before + "ldmatrix.sync.aligned.m8n8.x" + std::to_string(count) +
                                      (transposed ? ".trans" : "") + ".shared.b16 " + registers[count] + ", [%r9];\n",
                                  in);
      BOOST_REQUIRE_EQUAL(outcome.report, "");
      for (unsigned lane = 0; lane < kLanes; ++lane)
        for (unsigned m = 0; m < count; ++m)
          for (unsigned i = 0; i < 2; ++i) {
            const unsigned row = transposed ? lane % 4 * 2 + i : lane / 4,
                           column = transposed ? lane / 4 : lane % 4 * 2 + i;
            const std::uint32_t expected = (31 - (8 * m + row)) * 8 + column;
            BOOST_CHECK_EQUAL(outcome.words[lane * kOut + m] >> 16 * i & 0xffff, expected);
          }
    }
}

BOOST_AUTO_TEST_CASE(copies_are_there_after_the_wait) {
  Words in(kLanes * kIn);
  for (unsigned k = 0; k < in.size(); ++k) in[k] = 1000 + k;
  // The lane's 16 bytes are -1 at first; %r4 reads them before the wait and %r5 behind it.
  const std::string set =
      "mad.lo.u32 %r9, %r0, 16, %r8;\nmov.u32 %r10, -1;\n"
      "st.shared.v4.u32 [%r9], {%r10, %r10, %r10, %r10};\n";
  const auto expect = [&](const std::string& body, auto before, auto behind) {
    const Outcome outcome = run(set + body, in);
    BOOST_REQUIRE_EQUAL(outcome.report, "");
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      BOOST_CHECK_EQUAL(outcome.words[lane * kOut], before(lane));
      BOOST_CHECK_EQUAL(outcome.words[lane * kOut + 1], behind(lane));
    }
  };
  const auto old = [](unsigned) { return ~0u; };
  const auto second = [](unsigned lane) { return 1000 + lane * kIn + 1; };
  const std::string copy = "cp.async.cg.shared.global [%r9], [%l2], 16;\n";
  expect(copy + "ld.shared.u32 %r4, [%r9+4];\ncp.async.wait_all;\nld.shared.u32 %r5, [%r9+4];\n", old, second);
  // Groups: the last one need not be complete.
  expect(copy +
             "cp.async.commit_group;\ncp.async.commit_group;\ncp.async.wait_group 2;\nld.shared.u32 %r4, [%r9+4];\n"
             "cp.async.wait_group 1;\nld.shared.u32 %r5, [%r9+4];\n",
         old, second);
  // A wait does not include copies that are in no group.
  expect("cp.async.commit_group;\n" + copy +
             "cp.async.wait_group 0;\nld.shared.u32 %r4, [%r9+4];\n"
             "cp.async.wait_all;\nld.shared.u32 %r5, [%r9+4];\n",
         old, second);
  // Fewer bytes, from an address with an offset.
  expect(
      "cp.async.ca.shared.global [%r9+4], [%l2+8], 4;\ncp.async.wait_all;\nld.shared.u32 %r4, [%r9];\n"
      "ld.shared.u32 %r5, [%r9+4];\n",
      old, [](unsigned lane) { return 1000 + lane * kIn + 2; });
  // Zeros in place of the source, which is not read.
  expect(
      "mov.u32 %r11, 0;\nmov.u64 %l4, 64;\ncp.async.cg.shared.global [%r9], [%l4], 16, %r11;\n"
      "ld.shared.u32 %r4, [%r9];\ncp.async.wait_all;\nld.shared.u32 %r5, [%r9];\n",
      old, [](unsigned) { return 0u; });
}

BOOST_AUTO_TEST_CASE(faults) {
  const std::string set = "mad.lo.u32 %r9, %r0, 16, %r8;\nst.shared.v4.u32 [%r9], {%r16, %r17, %r18, %r19};\n";
  const std::string load = "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r4, %r5, %r6, %r7}, [%r9];\n";
  check_reported("setp.lt.u32 %p1, %r0, 16;\n@%p1 " + product("f16").substr(product("f16").find("mma")),
                 "executed by a part of its lanes");
  check_reported(set + "xor.b32 %r9, %r9, 16;\n" + load, "without a barrier in between");
  check_reported(set + "bar.warp.sync -1;\nadd.u32 %r9, %r9, 4;\n" + load, "not aligned");
  check_reported("mad.lo.u32 %r9, %r0, 16, %r8;\n" + load, "that the block has not written");
  check_reported("mov.u32 %r9, 4096;\ncp.async.cg.shared.global [%r9], [%l2], 16;\n", "of shared memory, of which");
  check_reported("mov.u64 %l4, 64;\ncp.async.cg.shared.global [%r8], [%l4], 16;\n", "reads 16 bytes");
  // Another thread reads what is copied, with a barrier behind the wait only.
  const std::string copy = "mad.lo.u32 %r9, %r0, 16, %r8;\ncp.async.cg.shared.global [%r9], [%l2], 16;\n",
                    neighbour = "xor.b32 %r10, %r9, 16;\nld.shared.u32 %r4, [%r10];\n";
  BOOST_CHECK_EQUAL(run(copy + "cp.async.wait_all;\nbar.sync 0;\n" + neighbour, Words(kLanes * kIn, 1)).report, "");
  check_reported(copy + "bar.sync 0;\n" + neighbour + "cp.async.wait_all;\n", "without a barrier in between");
  check_reported(copy + "bar.sync 0;\ncp.async.wait_all;\n" + neighbour, "without a barrier in between");
  check_reported(
      "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f4, %f5, %f6, %f7}, {%r16, %r17}, {%r20}, "
      "{%f0, %f1, %f2, %f3};\n",
      "unknown instruction");
}

BOOST_AUTO_TEST_SUITE_END()
