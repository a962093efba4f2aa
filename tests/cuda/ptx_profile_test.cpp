// The counters of the interpreter of PTX (support/cuda_device/kernel_profile.h) on kernels whose counts follow from
// their few instructions.
#include <boost/test/unit_test.hpp>

#include <numeric>
#include <string>
#include <vector>

#include <catena/tests/support/cuda_device/control.h>
#include <catena/tests/support/cuda_device/driver_calls.h>

namespace {

using namespace cuda_device;

constexpr unsigned kThreads = 64;  // two warps
constexpr ProfiledDevice kDevice{4, 64 << 10, 1 << 20};

std::uint64_t of(const KernelProfile& p, InstructionClass kind) { return p.instructions[std::size_t(kind)]; }

// A kernel with an input, an output and these instructions: %l0 and %l1 are their addresses, %r0 is the thread.
std::string profiled_kernel(const std::string& body) {
  return ".version 7.8\n.target sm_75\n.address_size 64\n"
         ".visible .entry counted(.param .u64 p_in, .param .u64 p_out)\n{\n"
         ".reg .pred %p<4>;\n.reg .b32 %r<12>;\n.reg .f32 %f<8>;\n.reg .b64 %l<12>;\n.shared .align 16 .b8 s[16384];\n"
         "ld.param.u64 %l0, [p_in];\nld.param.u64 %l1, [p_out];\nmov.u32 %r0, %tid.x;\nmov.u32 %r8, s;\n" +
         body + "ret;\n}\n";
}

// Memory for the kernels' input and output.
struct Operands {
  static constexpr std::size_t kWords = 4096;
  cu_deviceptr in = allocate(kWords * 4), out = allocate(kWords * 4);
  Operands() {
    std::vector<std::uint32_t> values(kWords);
    std::iota(values.begin(), values.end(), 0u);
    CU(copy_to_device, in, values.data(), kWords * 4);
    CU(copy_to_device, out, values.data(), kWords * 4);
  }
};

// The counters of `launches` launches of one block.
std::vector<KernelProfile> profiles_of(const std::string& body, int launches = 1, bool in_place = false) {
  const OnDevice device;
  Operands operands;
  cu_module module = nullptr;
  cu_function function = nullptr;
  CU(module_load_data, &module, profiled_kernel(body).c_str());
  CU(module_get_function, &function, module, "counted");
  void* parameters[] = {&operands.in, in_place ? &operands.in : &operands.out, nullptr};
  Control control;
  control.start_profile(kDevice);
  for (int k = 0; k < launches; ++k)
    CU(launch_kernel, function, 1, 1, 1, kThreads, 1, 1, 0, nullptr, parameters, nullptr);
  CU(context_synchronize);
  control.stop_profile();
  CU(launch_kernel, function, 1, 1, 1, kThreads, 1, 1, 0, nullptr, parameters, nullptr);  // not counted any more
  CU(context_synchronize);
  CU(module_unload, module);
  std::vector<KernelProfile> all = control.profiles();
  BOOST_REQUIRE_EQUAL(all.size(), std::size_t(launches));
  return all;
}
KernelProfile profile_of(const std::string& body) { return profiles_of(body).front(); }

// Addresses in %l3 and %l4: bytes `stride` apart, from thread to thread.
std::string addresses(int stride) {
  return "mul.wide.u32 %l2, %r0, " + std::to_string(stride) + ";\nadd.s64 %l3, %l0, %l2;\nadd.s64 %l4, %l1, %l2;\n";
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_copy_uses_all_of_its_sectors) {
  const KernelProfile p = profile_of(addresses(4) + "ld.global.f32 %f0, [%l3];\nst.global.f32 [%l4], %f0;\n");
  BOOST_CHECK_EQUAL(p.warps, 2u);
  BOOST_CHECK_EQUAL(p.grid[0], 1u);
  BOOST_CHECK_EQUAL(p.block[0], kThreads);
  BOOST_CHECK_EQUAL(p.shared_bytes, 16384u);
  BOOST_CHECK_EQUAL(p.load_requests, 2u);
  BOOST_CHECK_EQUAL(p.load_bytes, 256u);
  BOOST_CHECK_EQUAL(p.load_sectors, 8u);
  BOOST_CHECK_EQUAL(p.load_lines, 2u);
  BOOST_CHECK_EQUAL(p.load_fetches, 8u);
  BOOST_CHECK_EQUAL(p.load_waits, 2u);
  BOOST_CHECK_EQUAL(p.store_requests, 2u);
  BOOST_CHECK_EQUAL(p.store_bytes, 256u);
  BOOST_CHECK_EQUAL(p.store_sectors, 8u);
  BOOST_CHECK_EQUAL(p.partial_sectors, 0u);
  BOOST_CHECK_EQUAL(p.input_sectors, 8u);
  BOOST_CHECK_EQUAL(p.changed_inputs, 0u);
  BOOST_CHECK_EQUAL(p.memory_reads, 8u);
  BOOST_CHECK_EQUAL(p.memory_writes, 8u);
  BOOST_CHECK_EQUAL(of(p, InstructionClass::global), 4u);
  // The first addition to the product is a part of the multiplication, which is repeated for the second one.
  BOOST_CHECK_EQUAL(of(p, InstructionClass::multiply), 4u);
  BOOST_CHECK_EQUAL(of(p, InstructionClass::integer64), 0u);
  BOOST_CHECK_EQUAL(of(p, InstructionClass::move), 10u);
  BOOST_CHECK_EQUAL(of(p, InstructionClass::control), 2u);
  BOOST_CHECK_EQUAL(p.lanes, 10u * kThreads);
}

BOOST_AUTO_TEST_CASE(a_strided_copy_uses_a_part_of_them) {
  const KernelProfile p = profile_of(addresses(32) + "ld.global.f32 %f0, [%l3];\nst.global.f32 [%l4], %f0;\n");
  BOOST_CHECK_EQUAL(p.load_bytes, 256u);
  BOOST_CHECK_EQUAL(p.load_sectors, 64u);
  BOOST_CHECK_EQUAL(p.load_lines, 16u);
  BOOST_CHECK_EQUAL(p.store_sectors, 64u);
  BOOST_CHECK_EQUAL(p.partial_sectors, 128u);
}

BOOST_AUTO_TEST_CASE(vectors_are_one_access) {
  const KernelProfile p =
      profile_of(addresses(16) + "ld.global.v4.f32 {%f0, %f1, %f2, %f3}, [%l3];\nst.global.f32 [%l4], %f3;\n");
  BOOST_CHECK_EQUAL(p.load_requests, 2u);
  BOOST_CHECK_EQUAL(p.load_bytes, 1024u);
  BOOST_CHECK_EQUAL(p.load_sectors, 32u);
}

BOOST_AUTO_TEST_CASE(a_second_read_finds_the_level_1_cache) {
  const KernelProfile p =
      profile_of(addresses(4) + "ld.global.f32 %f0, [%l3];\nld.global.f32 %f1, [%l3];\nst.global.f32 [%l4], %f1;\n");
  BOOST_CHECK_EQUAL(p.load_sectors, 16u);
  BOOST_CHECK_EQUAL(p.load_fetches, 8u);
  BOOST_CHECK_EQUAL(p.memory_reads, 8u);
  BOOST_CHECK_EQUAL(p.load_waits, 2u);  // both loads of a warp are made before one is used
}

BOOST_AUTO_TEST_CASE(a_loaded_address_makes_a_second_wait) {
  const std::string dependent =
      "ld.global.u32 %r1, [%l3];\nmul.wide.u32 %l5, %r1, 4;\nadd.s64 %l6, %l0, %l5;\nld.global.u32 %r2, [%l6];\n";
  const std::string independent =
      "ld.global.u32 %r1, [%l3];\nadd.s32 %r3, %r1, 1;\nld.global.u32 %r2, [%l3+64];\nadd.s32 %r2, %r2, %r3;\n";
  BOOST_CHECK_EQUAL(profile_of(addresses(4) + dependent + "st.global.u32 [%l4], %r2;\n").load_waits, 4u);
  BOOST_CHECK_EQUAL(profile_of(addresses(4) + independent + "st.global.u32 [%l4], %r2;\n").load_waits, 2u);
}

BOOST_AUTO_TEST_CASE(the_level_2_cache_is_kept_between_launches) {
  const std::vector<KernelProfile> all =
      profiles_of(addresses(4) + "ld.global.f32 %f0, [%l3];\nst.global.f32 [%l4], %f0;\n", 2);
  BOOST_CHECK_EQUAL(all[0].memory_reads, 8u);
  BOOST_CHECK_EQUAL(all[1].load_fetches, 8u);  // level 1 does not survive the block
  BOOST_CHECK_EQUAL(all[1].memory_reads, 0u);
  BOOST_CHECK_EQUAL(all[1].memory_writes, 0u);
  BOOST_CHECK_EQUAL(all[1].input_sectors, 0u);
}

BOOST_AUTO_TEST_CASE(inputs_that_change_are_told_apart) {
  const KernelProfile p =
      profiles_of(addresses(4) + "ld.global.f32 %f0, [%l3];\nst.global.f32 [%l4], %f0;\n", 1, true).front();
  BOOST_CHECK_EQUAL(p.input_sectors, 8u);
  BOOST_CHECK_EQUAL(p.changed_inputs, 8u);
  BOOST_CHECK_EQUAL(p.memory_writes, 8u);
}

BOOST_AUTO_TEST_CASE(conflicts_of_banks) {
  const auto stores = [](int stride, const std::string& store) {
    return profile_of("mul.lo.u32 %r1, %r0, " + std::to_string(stride) + ";\nadd.u32 %r1, %r1, %r8;\n" + store);
  };
  const KernelProfile even = stores(4, "st.shared.u32 [%r1], %r0;\n");
  BOOST_CHECK_EQUAL(even.shared_requests, 2u);
  BOOST_CHECK_EQUAL(even.shared_passes, 2u);
  BOOST_CHECK_EQUAL(even.shared_least_passes, 2u);
  BOOST_CHECK_EQUAL(of(even, InstructionClass::shared), 2u);
  BOOST_CHECK_EQUAL(of(even, InstructionClass::global), 0u);
  BOOST_CHECK_EQUAL(stores(8, "st.shared.u32 [%r1], %r0;\n").shared_passes, 4u);
  BOOST_CHECK_EQUAL(stores(128, "st.shared.u32 [%r1], %r0;\n").shared_passes, 64u);
  BOOST_CHECK_EQUAL(stores(132, "st.shared.u32 [%r1], %r0;\n").shared_passes, 2u);
  const KernelProfile wide = stores(16, "st.shared.v4.u32 [%r1], {%r0, %r0, %r0, %r0};\n");
  BOOST_CHECK_EQUAL(wide.shared_passes, 8u);
  BOOST_CHECK_EQUAL(wide.shared_least_passes, 8u);
  // All lanes read one word.
  const KernelProfile one =
      stores(4, "st.shared.u32 [%r1], %r0;\nbar.sync 0;\nld.shared.u32 %r2, [%r8];\nadd.u32 %r3, %r2, 1;\n");
  BOOST_CHECK_EQUAL(one.shared_passes, 4u);
  BOOST_CHECK_EQUAL(one.barriers, 2u);
  BOOST_CHECK_EQUAL(one.load_waits, 0u);  // a wait is one for global memory
  BOOST_CHECK_EQUAL(of(one, InstructionClass::barrier), 2u);
}

BOOST_AUTO_TEST_CASE(tiles_and_copies) {
  const std::string place = "mul.lo.u32 %r1, %r0, 16;\nadd.u32 %r1, %r1, %r8;\n" + addresses(16);
  const std::string copy = place + "cp.async.cg.shared.global [%r1], [%l3], 16;\n";
  const KernelProfile at_once = profile_of(copy + "cp.async.wait_all;\n");
  BOOST_CHECK_EQUAL(at_once.load_requests, 2u);
  BOOST_CHECK_EQUAL(at_once.load_bytes, 1024u);
  BOOST_CHECK_EQUAL(at_once.load_fetches, 32u);
  BOOST_CHECK_EQUAL(at_once.shared_passes, 8u);
  BOOST_CHECK_EQUAL(at_once.load_waits, 2u);
  BOOST_CHECK_EQUAL(of(at_once, InstructionClass::global), 2u);
  // Many instructions between the copy and the wait hide it.
  std::string work;
  for (int k = 0; k < 300; ++k) work += "add.u32 %r2, %r2, %r0;\n";
  BOOST_CHECK_EQUAL(profile_of("mov.u32 %r2, 0;\n" + copy + work + "cp.async.wait_all;\n").load_waits, 0u);
  // Copies past level 1 find nothing there, others do.
  BOOST_CHECK_EQUAL(profile_of(copy + "cp.async.cg.shared.global [%r1], [%l3], 16;\n").load_fetches, 64u);
  BOOST_CHECK_EQUAL(profile_of(place + "cp.async.ca.shared.global [%r1], [%l3], 16;\n"
                                       "cp.async.ca.shared.global [%r1], [%l3], 16;\n")
                        .load_fetches,
                    32u);
  const KernelProfile tiles = profile_of(
      copy +
      "cp.async.wait_all;\nbar.sync 0;\nldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r2, %r3, %r4, %r5}, [%r1];\n"
      "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r6}, [%r1];\nmov.f32 %f0, 0f00000000;\n"
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r2, %r3, %r4, %r5}, {%r2, %r6}, "
      "{%f0, %f0, %f0, %f0};\n");
  BOOST_CHECK_EQUAL(of(tiles, InstructionClass::tensor), 2u);
  BOOST_CHECK_EQUAL(of(tiles, InstructionClass::shared), 4u);
  BOOST_CHECK_EQUAL(tiles.shared_passes, 8u + 2 * 4 + 2 * 1);
}

BOOST_AUTO_TEST_CASE(branches_that_divide_a_warp) {
  const auto branch = [](const std::string& condition) {
    return profile_of(condition + "@%p1 bra $SKIP;\nadd.u32 %r2, %r0, 1;\n$SKIP:\n");
  };
  const KernelProfile divided = branch("and.b32 %r1, %r0, 1;\nsetp.eq.u32 %p1, %r1, 0;\n");
  BOOST_CHECK_EQUAL(divided.branches, 2u);
  BOOST_CHECK_EQUAL(divided.divergent_branches, 2u);
  const KernelProfile whole = branch("setp.lt.u32 %p1, %r0, 32;\n");
  BOOST_CHECK_EQUAL(whole.branches, 2u);
  BOOST_CHECK_EQUAL(whole.divergent_branches, 0u);
  BOOST_CHECK_EQUAL(of(whole, InstructionClass::integer), 1u);  // of the second warp
}

BOOST_AUTO_TEST_CASE(atomics_that_meet) {
  const KernelProfile one = profile_of("red.global.add.u32 [%l1], 1;\n");
  BOOST_CHECK_EQUAL(one.atomic_requests, 2u);
  BOOST_CHECK_EQUAL(one.atomic_lanes, 64u);
  BOOST_CHECK_EQUAL(one.atomic_meetings, 64u);
  BOOST_CHECK_EQUAL(one.atomic_busiest, 64u);
  BOOST_CHECK_EQUAL(one.atomic_addresses, 1u);
  BOOST_CHECK_EQUAL(one.atomic_sectors, 2u);
  BOOST_CHECK_EQUAL(of(one, InstructionClass::atomic), 2u);
  const KernelProfile apart = profile_of(addresses(4) + "red.global.add.u32 [%l4], 1;\n");
  BOOST_CHECK_EQUAL(apart.atomic_meetings, 2u);
  BOOST_CHECK_EQUAL(apart.atomic_busiest, 8u);
  BOOST_CHECK_EQUAL(apart.atomic_addresses, 64u);
  BOOST_CHECK_EQUAL(apart.atomic_sectors, 8u);
}

// The halves of a register pair are registers; two warps execute each instruction once.
BOOST_AUTO_TEST_CASE(instructions_that_name_a_register_are_moves) {
  const auto moves = [](const std::string& body) { return of(profile_of(body), InstructionClass::move); };
  const std::string product = "mul.wide.u32 %l2, %r0, 5;\n";
  const std::uint64_t none = moves(product);
  BOOST_CHECK_EQUAL(moves(product + "cvt.u32.u64 %r1, %l2;\n"), none + 2);
  BOOST_CHECK_EQUAL(moves(product + "cvt.u64.u32 %l3, %r0;\n"), none + 2);
  BOOST_CHECK_EQUAL(moves(product + "shr.u64 %l3, %l2, 32;\n"), none + 2);
  for (const char* executed : {"shr.u64 %l3, %l2, 31;\n", "shr.s64 %l3, %l2, 32;\n", "shr.u64 %l3, %l2, %r0;\n",
                               "cvt.s64.s32 %l3, %r0;\n", "shr.u32 %r1, %r0, 32;\n"})
    BOOST_CHECK_EQUAL(moves(product + executed), none);
}

BOOST_AUTO_TEST_CASE(a_float16_becomes_a_float32_by_an_addition_of_halves) {
  const KernelProfile p = profile_of("{ .reg .b16 h; cvt.rn.f16.f32 h, 0f3F800000; cvt.f32.f16 %f0, h; }\n");
  BOOST_CHECK_EQUAL(of(p, InstructionClass::half), 2u);
  BOOST_CHECK_EQUAL(of(p, InstructionClass::convert), 2u);
}

BOOST_AUTO_TEST_CASE(a_logical_operation_compares_with_zero) {
  const std::string logic = "and.b32 %r1, %r0, 3;\n";
  const auto compared = [&](const std::string& comparison) {
    return of(profile_of(logic + comparison), InstructionClass::compare);
  };
  BOOST_CHECK_EQUAL(compared("setp.ne.u32 %p1, %r1, 0;\n"), 0u);
  BOOST_CHECK_EQUAL(compared("setp.eq.s32 %p1, %r1, 0;\n"), 0u);
  for (const char* executed :
       {"setp.ne.u32 %p1, %r1, 1;\n", "setp.ne.u32 %p1, %r0, 0;\n", "setp.lt.u32 %p1, %r1, 0;\n"})
    BOOST_CHECK_EQUAL(compared(executed), 2u);
}

BOOST_AUTO_TEST_CASE(an_addition_of_64_bits_without_a_product_is_executed) {
  const KernelProfile p = profile_of("add.s64 %l3, %l0, 4;\nmul.lo.s64 %l2, %l0, %l0;\nadd.s64 %l4, %l2, %l0;\n");
  BOOST_CHECK_EQUAL(of(p, InstructionClass::integer64), 4u);
}

BOOST_AUTO_TEST_CASE(classes_of_instructions) {
  const KernelProfile p = profile_of(
      "cvt.rn.f32.u32 %f0, %r0;\nadd.rn.f32 %f1, %f0, 0f3F800000;\ndiv.rn.f32 %f2, %f0, %f1;\n"
      "ex2.approx.f32 %f3, %f0;\nrem.u32 %r1, %r0, 7;\ncvt.u64.u32 %l2, %r0;\nmul.lo.s64 %l3, %l2, %l2;\n"
      "div.u64 %l4, %l3, 3;\nsetp.lt.f32 %p1, %f2, %f3;\nselp.u32 %r2, %r0, %r1, %p1;\n"
      "shfl.sync.bfly.b32 %r3, %r2, 1, 31, -1;\n");
  BOOST_CHECK_EQUAL(of(p, InstructionClass::convert), 2u);
  BOOST_CHECK_EQUAL(of(p, InstructionClass::float32), 2u);
  BOOST_CHECK_EQUAL(of(p, InstructionClass::float32_slow), 2u);
  BOOST_CHECK_EQUAL(of(p, InstructionClass::special), 2u);
  BOOST_CHECK_EQUAL(of(p, InstructionClass::divide), 2u);
  BOOST_CHECK_EQUAL(of(p, InstructionClass::integer), 0u);
  BOOST_CHECK_EQUAL(of(p, InstructionClass::multiply64), 2u);
  BOOST_CHECK_EQUAL(of(p, InstructionClass::divide64), 2u);
  BOOST_CHECK_EQUAL(of(p, InstructionClass::compare), 4u);
  BOOST_CHECK_EQUAL(of(p, InstructionClass::lanes), 2u);
  BOOST_CHECK_EQUAL(of(p, InstructionClass::other), 0u);
}
