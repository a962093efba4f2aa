// CUDA's intrinsics in kernels given as text: directed roundings against exact rational arithmetic, conversions,
// integer and approximate functions, and that every name exists for both kinds of kernels.
#include <catena/ndarray/user_kernel/elementwise_kernel.h>
#include <catena/ndarray/user_kernel/raw_kernel.h>

#include <array>
#include <cmath>
#include <limits>

#include <catena/tests/support/ndarray_values.h>
#include <catena/tests/support/user_intrinsic_calls.h>

namespace {

using nd::Array;
using nd::ElementwiseKernel;
using test::check_values;

enum class Op { add, sub, mul, div, fma, sqrt, rcp };

// Operands as bits, and the results rounded to nearest, to zero, up and down: Python's fractions.
template <class Bits> struct RoundedCase {
  Op op;
  Bits a, b, c, results[4];
};

// clang-format off
const RoundedCase<std::uint32_t> kFloats[] = {
  {Op::add, 0x7953a6, 0x47f12064, 0x128b2f33, {0x47f12064, 0x47f12064, 0x47f12065, 0x47f12064}},
  {Op::add, 0xc04fce30, 0xc0624df7, 0xc0121314, {0xc0d90e14, 0xc0d90e13, 0xc0d90e13, 0xc0d90e14}},
  {Op::add, 0x6f03675a, 0x3f800000, 0x3f900000, {0x6f03675a, 0x6f03675a, 0x6f03675b, 0x6f03675a}},
  {Op::add, 0x3f800000, 0xc0409d08, 0x3f860000, {0xc0009d08, 0xc0009d08, 0xc0009d08, 0xc0009d08}},
  {Op::add, 0xf9ebdacc, 0x3f900000, 0xbf880000, {0xf9ebdacc, 0xf9ebdacb, 0xf9ebdacb, 0xf9ebdacc}},
  {Op::sub, 0x3f800000, 0x4021db50, 0x3f740000, {0xbfc3b6a0, 0xbfc3b6a0, 0xbfc3b6a0, 0xbfc3b6a0}},
  {Op::sub, 0x800c789a, 0x907a70c3, 0x9e7769b1, {0x107a70c3, 0x107a70c2, 0x107a70c3, 0x107a70c2}},
  {Op::sub, 0xbf900000, 0xc0f00000, 0x803b98d7, {0x40cc0000, 0x40cc0000, 0x40cc0000, 0x40cc0000}},
  {Op::mul, 0x3dcccccd, 0x801fcc71, 0x3f640000, {0x80032e0b, 0x80032e0b, 0x80032e0b, 0x80032e0c}},
  {Op::mul, 0xbfcc8b7f, 0x3dcccccd, 0x3dcccccd, {0xbe23a2cc, 0xbe23a2cc, 0xbe23a2cc, 0xbe23a2cd}},
  {Op::mul, 0x4075d97a, 0x830e07bc, 0xbf800000, {0x8408660f, 0x8408660f, 0x8408660f, 0x84086610}},
  {Op::mul, 0x8013743a, 0x40400000, 0xf646e1f4, {0x803a5cae, 0x803a5cae, 0x803a5cae, 0x803a5cae}},
  {Op::mul, 0xc3baea9e, 0x3f158ea0, 0x802b8921, {0xc35a6562, 0xc35a6561, 0xc35a6561, 0xc35a6562}},
  {Op::div, 0x4c144f, 0x4018023a, 0xd70820fe, {0x200815, 0x200814, 0x200815, 0x200814}},
  {Op::div, 0xf1d69ed6, 0x803caf41, 0xf88080b, {0x7f800000, 0x7f7fffff, 0x7f800000, 0x7f7fffff}},
  {Op::div, 0x8052d51e, 0x3dcccccd, 0x47f12064, {0x81cf14cb, 0x81cf14ca, 0x81cf14ca, 0x81cf14cb}},
  {Op::div, 0x8002e357, 0x3dcccccd, 0x3f8c0000, {0x801ce166, 0x801ce165, 0x801ce165, 0x801ce166}},
  {Op::div, 0x37dc76fb, 0x80108e38, 0xbf860000, {0xf855111a, 0xf8551119, 0xf8551119, 0xf855111a}},
  {Op::fma, 0x3f800000, 0xbf860000, 0xbfe37e24, {0xc034bf12, 0xc034bf12, 0xc034bf12, 0xc034bf12}},
  {Op::fma, 0xbf900000, 0x5a6b35, 0x80576378, {0x80bd1c14, 0x80bd1c13, 0x80bd1c13, 0x80bd1c14}},
  {Op::fma, 0xbf800000, 0x3f700000, 0x3f780000, {0x3d000000, 0x3d000000, 0x3d000000, 0x3d000000}},
  {Op::fma, 0x7c26847f, 0xc022a3f4, 0x8623, {0xfcd394fb, 0xfcd394fa, 0xfcd394fa, 0xfcd394fb}},
  {Op::fma, 0x3a83126f, 0x804e0e55, 0x79ff1c, {0x79eb21, 0x79eb20, 0x79eb21, 0x79eb20}},
  {Op::fma, 0x406683c1, 0x74e69a5d, 0xbf5c6873, {0x75cfa55e, 0x75cfa55e, 0x75cfa55f, 0x75cfa55e}},
  {Op::sqrt, 0x40400000, 0x7b45145c, 0x3f800000, {0x3fddb3d7, 0x3fddb3d7, 0x3fddb3d8, 0x3fddb3d7}},
  {Op::sqrt, 0x3f740000, 0xbf800000, 0x570dc195, {0x3f79ed91, 0x3f79ed90, 0x3f79ed91, 0x3f79ed90}},
  {Op::sqrt, 0x406514cf, 0x9118bb16, 0x3f840000, {0x3ff22aba, 0x3ff22aba, 0x3ff22abb, 0x3ff22aba}},
  {Op::sqrt, 0x4072f18c, 0xbf6c0000, 0x7a4cc6, {0x3ff962e7, 0x3ff962e7, 0x3ff962e8, 0x3ff962e7}},
  {Op::rcp, 0xbf8b18bd, 0x1d87cec3, 0x40400000, {0xbf6b93c5, 0xbf6b93c5, 0xbf6b93c5, 0xbf6b93c6}},
  {Op::rcp, 0x40400000, 0xafe44, 0xbfeaa155, {0x3eaaaaab, 0x3eaaaaaa, 0x3eaaaaab, 0x3eaaaaaa}},
  {Op::rcp, 0x5ec3d4, 0xc0f00000, 0x3f740000, {0x7eace413, 0x7eace413, 0x7eace414, 0x7eace413}},
  {Op::add, 0x7f7fffff, 0x3f800000, 0x0, {0x7f7fffff, 0x7f7fffff, 0x7f800000, 0x7f7fffff}},
  {Op::add, 0x7f7fffff, 0x7f7fffff, 0x0, {0x7f800000, 0x7f7fffff, 0x7f800000, 0x7f7fffff}},
  {Op::mul, 0x7f7fffff, 0xc0000000, 0x0, {0xff800000, 0xff7fffff, 0xff7fffff, 0xff800000}},
  {Op::mul, 0x1, 0x3f000000, 0x0, {0x0, 0x0, 0x1, 0x0}},
  {Op::mul, 0x1, 0xbe800000, 0x0, {0x80000000, 0x80000000, 0x80000000, 0x80000001}},
  {Op::add, 0x3f800000, 0xbf800000, 0x0, {0x0, 0x0, 0x0, 0x80000000}},
  {Op::add, 0x3f800000, 0x80000001, 0x0, {0x3f800000, 0x3f7fffff, 0x3f800000, 0x3f7fffff}},
  {Op::div, 0x3f800000, 0x40400000, 0x0, {0x3eaaaaab, 0x3eaaaaaa, 0x3eaaaaab, 0x3eaaaaaa}},
  {Op::div, 0x1, 0x40400000, 0x0, {0x0, 0x0, 0x1, 0x0}},
  {Op::rcp, 0x1, 0x0, 0x0, {0x7f800000, 0x7f7fffff, 0x7f800000, 0x7f7fffff}},
  {Op::fma, 0x3f800001, 0x3f800001, 0xbf800000, {0x34800000, 0x34800000, 0x34800001, 0x34800000}},
  {Op::fma, 0x3f800001, 0x3f800001, 0xbf800002, {0x28800000, 0x28800000, 0x28800000, 0x28800000}},
  {Op::fma, 0x3f000000, 0x1, 0x3f800000, {0x3f800000, 0x3f800000, 0x3f800001, 0x3f800000}},
  {Op::sqrt, 0x1, 0x0, 0x0, {0x1a3504f3, 0x1a3504f3, 0x1a3504f4, 0x1a3504f3}},
  {Op::sqrt, 0x40800000, 0x0, 0x0, {0x40000000, 0x40000000, 0x40000000, 0x40000000}},
  {Op::sqrt, 0x40000000, 0x0, 0x0, {0x3fb504f3, 0x3fb504f3, 0x3fb504f4, 0x3fb504f3}},
};
const RoundedCase<std::uint64_t> kDoubles[] = {
  {Op::add, 0xbff1b2186da7841c, 0x400a815d5037620c, 0xbff9d83270580f18,
   {0x4001a85119639ffe, 0x4001a85119639ffe, 0x4001a85119639ffe, 0x4001a85119639ffe}},
  {Op::add, 0xd86f40f6b239f3c7, 0x8005de0084b5a818, 0xbfef000000000000,
   {0xd86f40f6b239f3c7, 0xd86f40f6b239f3c7, 0xd86f40f6b239f3c7, 0xd86f40f6b239f3c8}},
  {Op::add, 0x3fd5484931dc0900, 0xbff5cd8995d12248, 0x3fef000000000000,
   {0xbff07b77495a2008, 0xbff07b77495a2008, 0xbff07b77495a2008, 0xbff07b77495a2008}},
  {Op::add, 0x40fe240c7ae147ae, 0x3ff1c00000000000, 0x3fb999999999999a,
   {0x40fe241e3ae147ae, 0x40fe241e3ae147ae, 0x40fe241e3ae147ae, 0x40fe241e3ae147ae}},
  {Op::add, 0x726e25cfd56a926, 0x4259478e4b98d, 0x400d378b02c1165a,
   {0x726e25cfd56a926, 0x726e25cfd56a926, 0x726e25cfd56a927, 0x726e25cfd56a926}},
  {Op::sub, 0xc01e000000000000, 0xf979df47aebdd, 0x1a26f88938703800,
   {0xc01e000000000000, 0xc01e000000000000, 0xc01e000000000000, 0xc01e000000000001}},
  {Op::sub, 0xbfee800000000000, 0x8007b8f23451d013, 0x4005c9b21803e880,
   {0xbfee800000000000, 0xbfee7fffffffffff, 0xbfee7fffffffffff, 0xbfee800000000000}},
  {Op::sub, 0x40fe240c7ae147ae, 0xa4a45ccb573d9, 0x63771407e8e72789,
   {0x40fe240c7ae147ae, 0x40fe240c7ae147ad, 0x40fe240c7ae147ae, 0x40fe240c7ae147ad}},
  {Op::mul, 0xbfee000000000000, 0xc01e000000000000, 0x800cd02c16353d03,
   {0x401c200000000000, 0x401c200000000000, 0x401c200000000000, 0x401c200000000000}},
  {Op::mul, 0x4008000000000000, 0x40fe240c7ae147ae, 0x28aaca51b98c67c2,
   {0x41169b095c28f5c2, 0x41169b095c28f5c2, 0x41169b095c28f5c3, 0x41169b095c28f5c2}},
  {Op::mul, 0x3feb800000000000, 0xbfed800000000000, 0x4004e58c34c4579e,
   {0xbfe95a0000000000, 0xbfe95a0000000000, 0xbfe95a0000000000, 0xbfe95a0000000000}},
  {Op::mul, 0x40fe240c7ae147ae, 0x8008c74f27e9e06f, 0x3feb800000000000,
   {0x8110897bb5d706a6, 0x8110897bb5d706a5, 0x8110897bb5d706a5, 0x8110897bb5d706a6}},
  {Op::mul, 0xbfdefc1586ce03f9, 0xbfee800000000000, 0x3fef800000000000,
   {0x3fdd8844847c5bc9, 0x3fdd8844847c5bc9, 0x3fdd8844847c5bca, 0x3fdd8844847c5bc9}},
  {Op::div, 0xbff1c00000000000, 0xbfef800000000000, 0xbfe4bb97e54e4650,
   {0x3ff2082082082082, 0x3ff2082082082082, 0x3ff2082082082083, 0x3ff2082082082082}},
  {Op::div, 0x3ff0800000000000, 0x40fe240c7ae147ae, 0x400429bb073bfff2,
   {0x3ee1848cda344bd9, 0x3ee1848cda344bd9, 0x3ee1848cda344bda, 0x3ee1848cda344bd9}},
  {Op::div, 0xbfe451b4a5881260, 0xc007a19323bed28e, 0x3ff1400000000000,
   {0x3fcb83dccb61b645, 0x3fcb83dccb61b644, 0x3fcb83dccb61b645, 0x3fcb83dccb61b644}},
  {Op::div, 0x3fed800000000000, 0x3ff1800000000000, 0x3ffcd32211ece614,
   {0x3feaf8af8af8af8b, 0x3feaf8af8af8af8a, 0x3feaf8af8af8af8b, 0x3feaf8af8af8af8a}},
  {Op::div, 0xc00c0c338d64637a, 0x3fcf76bac718b820, 0xc01e000000000000,
   {0xc02c869160ad6c4c, 0xc02c869160ad6c4c, 0xc02c869160ad6c4c, 0xc02c869160ad6c4d}},
  {Op::fma, 0x8f6f915fe21b37ca, 0x30f970583f9d52f9, 0xc5b2e0acd8be1,
   {0x8078e6fa0e9a8252, 0x8078e6fa0e9a8252, 0x8078e6fa0e9a8252, 0x8078e6fa0e9a8253}},
  {Op::fma, 0xbfd87c659c0ca030, 0xe4ddf9b9c28ee907, 0x535b6a437178ba0a,
   {0x64c6efd2301ca3e7, 0x64c6efd2301ca3e7, 0x64c6efd2301ca3e8, 0x64c6efd2301ca3e7}},
  {Op::fma, 0x400e4b88cc0b5f70, 0x3fb8e81d330c1680, 0x8008216873ccef03,
   {0x3fd79465dd97a698, 0x3fd79465dd97a697, 0x3fd79465dd97a698, 0x3fd79465dd97a697}},
  {Op::fma, 0x3f50624dd2f1a9fc, 0xbff2000000000000, 0xbfed800000000000,
   {0xbfed89374bc6a7f0, 0xbfed89374bc6a7ef, 0xbfed89374bc6a7ef, 0xbfed89374bc6a7f0}},
  {Op::fma, 0x3ff0000000000000, 0x4008000000000000, 0xabd0d12926185,
   {0x4008000000000000, 0x4008000000000000, 0x4008000000000001, 0x4008000000000000}},
  {Op::fma, 0x3ff0000000000000, 0xbfed000000000000, 0xbfed800000000000,
   {0xbffd400000000000, 0xbffd400000000000, 0xbffd400000000000, 0xbffd400000000000}},
  {Op::sqrt, 0x23231e2015522, 0xbff0000000000000, 0xe28af60465f42986,
   {0x1fe7b5ed104728fc, 0x1fe7b5ed104728fb, 0x1fe7b5ed104728fc, 0x1fe7b5ed104728fb}},
  {Op::sqrt, 0x3ff0000000000000, 0x3ff1000000000000, 0xbfe89fec9525f5e8,
   {0x3ff0000000000000, 0x3ff0000000000000, 0x3ff0000000000000, 0x3ff0000000000000}},
  {Op::sqrt, 0x3ff0000000000000, 0x800179a0518ae452, 0x8005685d04fcd555,
   {0x3ff0000000000000, 0x3ff0000000000000, 0x3ff0000000000000, 0x3ff0000000000000}},
  {Op::sqrt, 0x4008000000000000, 0x54dd0ba5626467ba, 0x3fefb9af49745c28,
   {0x3ffbb67ae8584caa, 0x3ffbb67ae8584caa, 0x3ffbb67ae8584cab, 0x3ffbb67ae8584caa}},
  {Op::rcp, 0x400d7d553883aae4, 0xeb25f8a1fc2e6a59, 0x3fec800000000000,
   {0x3fd15cb038082ab9, 0x3fd15cb038082ab9, 0x3fd15cb038082aba, 0x3fd15cb038082ab9}},
  {Op::rcp, 0x8000a227459c945c, 0xbfed800000000000, 0xc01e000000000000,
   {0xfff0000000000000, 0xffefffffffffffff, 0xffefffffffffffff, 0xfff0000000000000}},
  {Op::rcp, 0x800263cf67ec326a, 0x3fe212824fd3dca0, 0x4770a16e6fec3,
   {0xfff0000000000000, 0xffefffffffffffff, 0xffefffffffffffff, 0xfff0000000000000}},
  {Op::add, 0x7fefffffffffffff, 0x3ff0000000000000, 0x0,
   {0x7fefffffffffffff, 0x7fefffffffffffff, 0x7ff0000000000000, 0x7fefffffffffffff}},
  {Op::add, 0x7fefffffffffffff, 0x7fefffffffffffff, 0x0,
   {0x7ff0000000000000, 0x7fefffffffffffff, 0x7ff0000000000000, 0x7fefffffffffffff}},
  {Op::mul, 0x7fefffffffffffff, 0xc000000000000000, 0x0,
   {0xfff0000000000000, 0xffefffffffffffff, 0xffefffffffffffff, 0xfff0000000000000}},
  {Op::mul, 0x1, 0x3fe0000000000000, 0x0, {0x0, 0x0, 0x1, 0x0}},
  {Op::mul, 0x1, 0xbfd0000000000000, 0x0,
   {0x8000000000000000, 0x8000000000000000, 0x8000000000000000, 0x8000000000000001}},
  {Op::add, 0x3ff0000000000000, 0xbff0000000000000, 0x0, {0x0, 0x0, 0x0, 0x8000000000000000}},
  {Op::add, 0x3ff0000000000000, 0x8000000000000001, 0x0,
   {0x3ff0000000000000, 0x3fefffffffffffff, 0x3ff0000000000000, 0x3fefffffffffffff}},
  {Op::div, 0x3ff0000000000000, 0x4008000000000000, 0x0,
   {0x3fd5555555555555, 0x3fd5555555555555, 0x3fd5555555555556, 0x3fd5555555555555}},
  {Op::div, 0x1, 0x4008000000000000, 0x0, {0x0, 0x0, 0x1, 0x0}},
  {Op::rcp, 0x1, 0x0, 0x0, {0x7ff0000000000000, 0x7fefffffffffffff, 0x7ff0000000000000, 0x7fefffffffffffff}},
  {Op::fma, 0x3ff0000000000001, 0x3ff0000000000001, 0xbff0000000000000,
   {0x3cc0000000000000, 0x3cc0000000000000, 0x3cc0000000000001, 0x3cc0000000000000}},
  {Op::fma, 0x3ff0000000000001, 0x3ff0000000000001, 0xbff0000000000002,
   {0x3970000000000000, 0x3970000000000000, 0x3970000000000000, 0x3970000000000000}},
  {Op::fma, 0x3fe0000000000000, 0x1, 0x3ff0000000000000,
   {0x3ff0000000000000, 0x3ff0000000000000, 0x3ff0000000000001, 0x3ff0000000000000}},
  {Op::sqrt, 0x1, 0x0, 0x0, {0x1e60000000000000, 0x1e60000000000000, 0x1e60000000000000, 0x1e60000000000000}},
  {Op::sqrt, 0x4010000000000000, 0x0, 0x0,
   {0x4000000000000000, 0x4000000000000000, 0x4000000000000000, 0x4000000000000000}},
  {Op::sqrt, 0x4000000000000000, 0x0, 0x0,
   {0x3ff6a09e667f3bcd, 0x3ff6a09e667f3bcc, 0x3ff6a09e667f3bcd, 0x3ff6a09e667f3bcc}},
};
// clang-format on

// The body of a kernel that computes the results of the cases; `p` is the prefix of the names: __fadd_rn, __dadd_rn.
std::string rounding_body(const std::string& p, const std::string& fma, const std::string& from,
                          const std::string& to) {
  std::string body = "const auto x = " + from + "(a), y = " + from + "(b), z = " + from + "(c); switch (op) {";
  const auto calls = [&](int op, const std::string& name, const std::string& arguments) {
    body += "case " + std::to_string(op) + ":";
    for (const std::string mode : {"rn", "rz", "ru", "rd"})
      body += mode + " = " + to + "(" + name + "_" + mode + "(" + arguments + "));";
    body += "break;";
  };
  calls(0, p + "add", "x, y");
  calls(1, p + "sub", "x, y");
  calls(2, p + "mul", "x, y");
  calls(3, p + "div", "x, y");
  calls(4, fma, "x, y, z");
  calls(5, p + "sqrt", "x");
  calls(6, p + "rcp", "x");
  return body + "}";
}

template <class Bits, std::size_t N>
void check_rounding(const ElementwiseKernel& kernel, const RoundedCase<Bits> (&cases)[N]) {
  std::vector<std::int32_t> ops;
  std::vector<Bits> a, b, c;
  for (const RoundedCase<Bits>& k : cases) {
    ops.push_back(static_cast<std::int32_t>(k.op));
    a.push_back(k.a), b.push_back(k.b), c.push_back(k.c);
  }
  const std::array<Array, 4> results = kernel.call<4>(nd::array(ops), nd::array(a), nd::array(b), nd::array(c));
  for (std::size_t mode = 0; mode < 4; ++mode) {
    const std::vector<Bits> got = results[mode].to_vector<Bits>();
    for (std::size_t k = 0; k < N; ++k)
      BOOST_TEST(got[k] == cases[k].results[mode], "operation " << ops[k] << " in case " << k << " and mode " << mode);
  }
}

// The values of expressions of x, all computed by one kernel.
template <class To, class From>
std::vector<std::vector<To>> evaluated_all(const std::vector<std::string>& expressions, const std::vector<From>& x) {
  const std::string type(nd::name_of(catena::dtype_of<To>));
  std::string outputs, body;
  for (std::size_t k = 0; k < expressions.size(); ++k) {
    const std::string y = "y" + std::to_string(k);
    outputs += (k > 0 ? ", " : "") + type + " " + y;
    body += y + " = " + expressions[k] + ";";
  }
  const ElementwiseKernel kernel("T x", outputs, body, "evaluated");
  const Array in = nd::array(x);
  const nd::Operand operand = in;
  std::vector<std::vector<To>> values;
  for (const Array& y : kernel.call({&operand, 1})) values.push_back(y.to_vector<To>());
  return values;
}
template <class To, class From> std::vector<To> evaluated(const std::string& expression, const std::vector<From>& x) {
  return evaluated_all<To>({expression}, x)[0];
}

// Expressions of x with what they should be.
struct Approximate {
  std::string expression;
  double (*exact)(double);
};
template <class E>
void check_approximate(const std::vector<Approximate>& cases, const std::vector<E>& x, double tolerance) {
  std::vector<std::string> expressions;
  for (const Approximate& c : cases) expressions.push_back(c.expression);
  const std::vector<std::vector<E>> values = evaluated_all<E>(expressions, x);
  for (std::size_t c = 0; c < cases.size(); ++c)
    for (std::size_t k = 0; k < x.size(); ++k) {
      const double exact = cases[c].exact(double(x[k]));
      BOOST_TEST(std::abs(double(values[c][k]) - exact) <= tolerance * (1 + std::abs(exact)),
                 expressions[c] << " of " << x[k]);
    }
}

constexpr float kInf = std::numeric_limits<float>::infinity(), kNaN = std::numeric_limits<float>::quiet_NaN();

}  // namespace

BOOST_AUTO_TEST_SUITE(user_intrinsics)

BOOST_AUTO_TEST_CASE(directed_roundings) {
  const ElementwiseKernel floats("int32 op, uint32 a, uint32 b, uint32 c", "uint32 rn, uint32 rz, uint32 ru, uint32 rd",
                                 rounding_body("__f", "__fmaf", "__uint_as_float", "__float_as_uint"), "floats");
  check_rounding(floats, kFloats);
  const ElementwiseKernel doubles(
      "int32 op, uint64 a, uint64 b, uint64 c", "uint64 rn, uint64 rz, uint64 ru, uint64 rd",
      rounding_body("__d", "__fma", "__longlong_as_double", "__double_as_longlong"), "doubles");
  check_rounding(doubles, kDoubles);
}

BOOST_AUTO_TEST_CASE(floats_to_integers) {
  const std::vector<float> x = {2.5f, 3.5f, -2.5f, -0.5f, 1e20f, -1e20f, kInf, -kInf, kNaN, 2147483520.0f};
  using I = std::int32_t;
  constexpr I low = std::numeric_limits<I>::min(), high = std::numeric_limits<I>::max();
  check_values<I>(nd::array(evaluated<I>("__float2int_rn(x)", x)), {2, 4, -2, 0, high, low, high, low, 0, 2147483520});
  check_values<I>(nd::array(evaluated<I>("__float2int_rz(x)", x)), {2, 3, -2, 0, high, low, high, low, 0, 2147483520});
  check_values<I>(nd::array(evaluated<I>("__float2int_ru(x)", x)), {3, 4, -2, 0, high, low, high, low, 0, 2147483520});
  check_values<I>(nd::array(evaluated<I>("__float2int_rd(x)", x)), {2, 3, -3, -1, high, low, high, low, 0, 2147483520});
  using U = std::uint32_t;
  constexpr U all = std::numeric_limits<U>::max();
  BOOST_TEST((evaluated<U>("__float2uint_rd(x)", x) == std::vector<U>{2, 3, 0, 0, all, 0, all, 0, 0, 2147483520u}));
  const std::vector<double> wide = {1e300, -1e300, 0.5, 1.5, 9007199254740993.0, -1e10};
  using L = std::int64_t;
  constexpr L lowest = std::numeric_limits<L>::min(), highest = std::numeric_limits<L>::max();
  BOOST_TEST((evaluated<L>("__double2ll_rn(x)", wide) ==
              std::vector<L>{highest, lowest, 0, 2, 9007199254740992, -10000000000}));
  BOOST_TEST((evaluated<I>("__double2int_ru(x)", wide) == std::vector<I>{high, low, 1, 2, high, low}));
  BOOST_TEST((evaluated<std::uint64_t>("__double2ull_rz(x)", wide) ==
              std::vector<std::uint64_t>{~std::uint64_t(0), 0, 0, 1, 9007199254740992u, 0}));
}

BOOST_AUTO_TEST_CASE(integers_and_doubles_to_floats) {
  const std::vector<std::int32_t> x = {16777217, -16777217, 16777219, 0, 2147483647};
  BOOST_TEST((evaluated<float>("__int2float_rn(x)", x) ==
              std::vector<float>{16777216, -16777216, 16777220, 0, 2147483648.0f}));
  BOOST_TEST((evaluated<float>("__int2float_rz(x)", x) ==
              std::vector<float>{16777216, -16777216, 16777218, 0, 2147483520.0f}));
  BOOST_TEST((evaluated<float>("__int2float_ru(x)", x) ==
              std::vector<float>{16777218, -16777216, 16777220, 0, 2147483648.0f}));
  BOOST_TEST((evaluated<float>("__int2float_rd(x)", x) ==
              std::vector<float>{16777216, -16777218, 16777218, 0, 2147483520.0f}));
  const std::vector<std::int64_t> l = {9007199254740993, -9007199254740993};
  BOOST_TEST(
      (evaluated<double>("__ll2double_ru(x)", l) == std::vector<double>{9007199254740994.0, -9007199254740992.0}));
  const std::vector<double> d = {0.1, -0.1, 1e300, 1e-300};
  BOOST_TEST((evaluated<float>("__double2float_ru(x)", d) ==
              std::vector<float>{0.1f, std::nextafter(-0.1f, 0.0f), kInf, std::numeric_limits<float>::denorm_min()}));
  BOOST_TEST((evaluated<float>("__double2float_rz(x)", d) == std::vector<float>{std::nextafter(0.1f, 0.0f),
                                                                                std::nextafter(-0.1f, 0.0f),
                                                                                std::numeric_limits<float>::max(), 0}));
  BOOST_TEST((evaluated<double>("__hiloint2double(__double2hiint(x), __double2loint(x))", d) == d));
  BOOST_TEST(
      (evaluated<float>("__frsqrt_rn(float(x))", std::vector<double>{4, 2}) == std::vector<float>{0.5f, 0.70710677f}));
}

BOOST_AUTO_TEST_CASE(integer_functions) {
  using U = std::uint32_t;
  const std::vector<std::pair<std::string, U>> cases = {
      {"__brev(x)", U(0x1e6a2c48u)},
      {"__brevll((unsigned long long)x) >> 32", U(0x1e6a2c48u)},
      {"__byte_perm(x, 0xaabbccddu, 0x4071)", U(0xdd78aa56u)},
      {"__funnelshift_l(x, 0xaabbccddu, 8)", U(0xbbccdd12u)},
      {"__funnelshift_r(x, 0xaabbccddu, 8)", U(0xdd123456u)},
      {"__funnelshift_lc(x, 0xaabbccddu, 40) + __funnelshift_rc(0u, 1u, 40)", U(0x12345679u)},
      {"__mulhi(int(x), -3)", U(U((std::int64_t(0x12345678) * -3) >> 32))},
      {"__umulhi(x, x)", U(U(std::uint64_t(0x12345678) * 0x12345678 >> 32))},
      {"__mul64hi(-1ll, 5ll) == -1 && __umul64hi(~0ull, 2ull) == 1", U(1u)},
      {"__mul24(int(x), -2)", U(U(0x345678 * -2))},
      {"__umul24(x, 0x01000002u)", U(0x345678u * 2)},
      {"__sad(-5, 7, 1u) + __usad(1u, 9u, x)", U(13 + 8 + 0x12345678u)},
      {"__hadd(-3, -2) == -3 && __rhadd(-3, -2) == -2 && __hadd(2147483647, 2147483647) == 2147483647", U(1u)},
      {"__uhadd(~0u, ~0u - 2) + __urhadd(~0u, 0u)", U(0xfffffffeu + 0x80000000u)},
      {"__clz(int(x)) * 1000000 + __clzll((long long)x) * 10000 + __ffs(int(x)) * 100 + __popc(x)",
       U(3 * 1000000u + 35 * 10000 + 4 * 100 + 13)},
  };
  std::vector<std::string> expressions;
  for (const auto& c : cases) expressions.push_back(c.first);
  const auto values = evaluated_all<U>(expressions, std::vector<U>{0x12345678u});
  for (std::size_t k = 0; k < cases.size(); ++k) BOOST_TEST(values[k][0] == cases[k].second, cases[k].first);
}

BOOST_AUTO_TEST_CASE(approximate_functions) {
  const std::vector<float> x = {0.5f, 1.25f, 3.0f};
  check_approximate<float>(
      {
          {"__expf(x)", [](double v) { return std::exp(v); }},
          {"__exp10f(x)", [](double v) { return std::pow(10, v); }},
          {"__logf(x)", [](double v) { return std::log(v); }},
          {"__log2f(x)", [](double v) { return std::log2(v); }},
          {"__log10f(x)", [](double v) { return std::log10(v); }},
          {"__sinf(x)", [](double v) { return std::sin(v); }},
          {"__cosf(x)", [](double v) { return std::cos(v); }},
          {"__tanf(x)", [](double v) { return std::tan(v); }},
          {"__powf(x, 1.5f)", [](double v) { return std::pow(v, 1.5); }},
          {"__fdividef(x, 3.0f)", [](double v) { return v / 3; }},
          {"[&] { float s, c; __sincosf(x, &s, &c); return s * 10 + c; }()",
           [](double v) { return std::sin(v) * 10 + std::cos(v); }},
      },
      x, 1e-5);
  const std::vector<float> special = {-1.0f, 0.25f, 7.0f, kNaN};
  check_values<float>(nd::array(evaluated<float>("__saturatef(x)", special)), {0, 0.25f, 1, 0});
  BOOST_TEST(std::isnan(evaluated<float>("__powf(x, 2.0f)", special)[0]));
  BOOST_TEST(evaluated<float>("__fdividef(x, 1.5e38f)", special)[1] == 0);
}

BOOST_AUTO_TEST_CASE(functions_that_the_c_library_lacks) {
  const std::vector<double> x = {0.3, 0.75, 1.5};
  check_approximate<double>(
      {
          {"sinpi(x)", [](double v) { return std::sin(M_PI * v); }},
          {"cospi(x)", [](double v) { return v == 1.5 ? 0 : std::cos(M_PI * v); }},
          {"rsqrt(x) + rcbrt(x)", [](double v) { return 1 / std::sqrt(v) + 1 / std::cbrt(v); }},
          {"erfinv(erf(x))", [](double v) { return v; }},
          {"erfcinv(erfc(x))", [](double v) { return v; }},
          {"normcdf(x)", [](double v) { return std::erfc(-v / std::sqrt(2.0)) / 2; }},
          {"normcdfinv(normcdf(x))", [](double v) { return v; }},
          {"erfcx(x)", [](double v) { return std::exp(v * v) * std::erfc(v); }},
          {"exp10(x)", [](double v) { return std::pow(10, v); }},
          {"rhypot(x, 2.0) + norm3d(x, 1.0, 2.0)", [](double v) { return 1 / std::hypot(v, 2) + std::hypot(v, 1, 2); }},
          {"cyl_bessel_i0(x) + cyl_bessel_i1(x)",
           [](double v) { return std::cyl_bessel_i(0, v) + std::cyl_bessel_i(1, v); }},
      },
      x, 1e-13);
  BOOST_TEST(evaluated<double>("sinpi(x * 4)", std::vector<double>{0.5, 1e10})[1] == 0);
  BOOST_TEST(std::abs(evaluated<double>("erfcx(x)", std::vector<double>{30})[0] - 0.018795888861416751) < 1e-15);
}

// NVRTC compiles the same text in cuda/nvrtc_user_kernels.
BOOST_AUTO_TEST_CASE(every_name) {
  const ElementwiseKernel every("float64 x", "float64 y", test::every_intrinsic_of_x(), "every_intrinsic");
  BOOST_TEST(every(nd::array({0.5, 1.5})).size() == 2);
}

BOOST_AUTO_TEST_CASE(in_a_raw_kernel) {
  const nd::RawKernel kernel(R"(
    extern "C" __global__ void fast(const float* x, float* y, int* k, int n) {
      const int t = blockIdx.x * blockDim.x + threadIdx.x;
      if (t >= n) return;
      y[t] = __fdividef(__expf(x[t]), __fsqrt_rn(x[t])) + __fadd_rz(1.0f, 1e-10f);
      k[t] = __float2int_rd(x[t]) + __float_as_int(1.0f);
    })",
                             "fast");
  const Array x = nd::array({1.5f, 4.25f}), y = nd::zeros({2}, nd::float32), k = nd::zeros({2}, nd::int32);
  kernel(1, 2, {x, y, k, 2});
  const std::vector<float> got = y.to_vector<float>();
  BOOST_TEST(std::abs(got[0] - (std::exp(1.5) / std::sqrt(1.5) + 1)) < 1e-5);
  BOOST_TEST(std::abs(got[1] - (std::exp(4.25) / std::sqrt(4.25) + 1)) < 1e-4);
  check_values<int>(k, {0x3f800000 + 1, 0x3f800000 + 4});
}

BOOST_AUTO_TEST_SUITE_END()
