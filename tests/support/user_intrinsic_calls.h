// A call of every CUDA intrinsic that kernels given as text may use: the same text for NVRTC and for the CPU.
#pragma once

#include <string>

namespace test {

// Returns statements on float f, double d, int i, unsigned u, long long l and unsigned long long ul, which they change.
inline std::string every_intrinsic() {
  std::string text;
  for (const std::string _ : {"_rn", "_rz", "_ru", "_rd"}) {
    for (const std::string name : {"__fadd", "__fsub", "__fmul", "__fdiv"}) text += "f = " + name + _ + "(f, f);";
    for (const std::string name : {"__frcp", "__fsqrt"}) text += "f = " + name + _ + "(f);";
    text += "f = __fmaf" + _ + "(f, f, f);" + "f = __fmaf_ieee" + _ + "(f, f, f);";
    for (const std::string name : {"__dadd", "__dsub", "__dmul", "__ddiv"}) text += "d = " + name + _ + "(d, d);";
    for (const std::string name : {"__drcp", "__dsqrt"}) text += "d = " + name + _ + "(d);";
    text += "d = __fma" + _ + "(d, d, d); f = __double2float" + _ + "(d);";
    for (const std::string from : {"float", "double"}) {
      const std::string v = from.substr(0, 1);
      text += "i = __" + from + "2int" + _ + "(" + v + "); u = __" + from + "2uint" + _ + "(" + v + ");";
      text += "l = __" + from + "2ll" + _ + "(" + v + "); ul = __" + from + "2ull" + _ + "(" + v + ");";
    }
    text += "f = __int2float" + _ + "(i); f = __uint2float" + _ + "(u);";
    text += "f = __ll2float" + _ + "(l); f = __ull2float" + _ + "(ul);";
    text += "d = __ll2double" + _ + "(l); d = __ull2double" + _ + "(ul);";
  }
  for (const std::string name :
       {"__frsqrt_rn", "__expf",      "__exp10f",    "__logf", "__log2f",        "__log10f",      "__sinf",  "__cosf",
        "__tanf",      "__saturatef", "rsqrtf",      "rcbrtf", "sinpif",         "cospif",        "erfinvf", "erfcinvf",
        "erfcxf",      "normcdff",    "normcdfinvf", "exp10f", "cyl_bessel_i0f", "cyl_bessel_i1f"})
    text += "f = " + name + "(f);";
  for (const std::string name : {"rsqrt", "rcbrt", "sinpi", "cospi", "erfinv", "erfcinv", "erfcx", "normcdf",
                                 "normcdfinv", "exp10", "cyl_bessel_i0", "cyl_bessel_i1"})
    text += "d = " + name + "(d); f = " + name + "(f);";
  return text + R"(
    f = __powf(f, f); f = __fdividef(f, f); f = fdividef(f, f); __sincosf(f, &f, &f); sincospif(f, &f, &f);
    d = fdivide(d, d); sincospi(d, &d, &d); f = rhypotf(f, f); d = rhypot(d, d); f = norm3df(f, f, f);
    d = norm3d(d, d, d); f = rnorm3df(f, f, f); d = rnorm3d(d, d, d); f = norm4df(f, f, f, f); d = norm4d(d, d, d, d);
    f = rnorm4df(f, f, f, f); d = rnorm4d(d, d, d, d); f = normf(1, &f); d = norm(1, &d); f = rnormf(1, &f);
    d = rnorm(1, &d);
    d = __int2double_rn(i); d = __uint2double_rn(u); d = __hiloint2double(i, i); i = __double2hiint(d);
    i = __double2loint(d); i = __float_as_int(f); u = __float_as_uint(f); f = __int_as_float(i); f = __uint_as_float(u);
    l = __double_as_longlong(d); d = __longlong_as_double(l);
    i = __clz(i); i = __clzll(l); i = __ffs(i); i = __ffsll(l); i = __popc(u); i = __popcll(ul); u = __brev(u);
    ul = __brevll(ul); u = __byte_perm(u, u, u); u = __funnelshift_l(u, u, u); u = __funnelshift_r(u, u, u);
    u = __funnelshift_lc(u, u, u); u = __funnelshift_rc(u, u, u); i = __mulhi(i, i); u = __umulhi(u, u);
    l = __mul64hi(l, l); ul = __umul64hi(ul, ul); i = __mul24(i, i); u = __umul24(u, u); u = __sad(i, i, u);
    u = __usad(u, u, u); i = __hadd(i, i); i = __rhadd(i, i); u = __uhadd(u, u); u = __urhadd(u, u);
    i = int(__fns(u, u, i));)";
}

// Returns the statements for the body of an elementwise kernel with the input "float64 x" and the output "float64 y".
inline std::string every_intrinsic_of_x() {
  return "float f = float(x); double d = x; int i_ = int(x); unsigned u = i_; long long l = i_; unsigned long long ul "
         "= u;"
         "{ int i = i_;" +
         every_intrinsic() + "i_ = i; } y = f + d + i_ + u + l + ul";
}

}  // namespace test
