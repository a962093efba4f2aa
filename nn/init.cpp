#include <catena/nn/init.h>

#include <catena/kernels/base/error.h>

namespace nn::init {

void internal::fill(const char* name, const Variable& w, const Initializer& initializer) {
  catena::check<catena::ValueError>(bool(w.data()), name,
                                    "the parameter has no values yet: call the layer once before, give it its sizes, ",
                                    "or give it an initializer (.initialW)");
  initializer(w.data());
}

void uniform_(const Variable& w, double a, double b) {
  catena::check<catena::ValueError>(a <= b, "uniform_", "the bounds are ", a, " and ", b, "; they must not decrease");
  internal::fill("uniform_", w, Initializer([a, b](const Array& array) {
                   initializers::Uniform((b - a) / 2)(array);
                   autograd::assign(array, array + (a + b) / 2);
                 }));
}

void normal_(const Variable& w, double mean, double std) {
  catena::check<catena::ValueError>(std >= 0, "normal_", "std is ", std, " and must not be negative");
  internal::fill("normal_", w, Initializer([mean, std](const Array& array) {
                   initializers::Normal(std)(array);
                   autograd::assign(array, array + mean);
                 }));
}

void trunc_normal_(const Variable& w, const TruncNormalOptions& o) {
  catena::check<catena::ValueError>(o.std > 0 && o.a < o.b, "trunc_normal_", "std is ", o.std, " and the bounds are ",
                                    o.a, " and ", o.b, "; std must be positive and the bounds must increase");
  internal::fill("trunc_normal_", w, Initializer([o](const Array& array) {
                   initializers::TruncatedNormal(o.std, o.a - o.mean, o.b - o.mean)(array);
                   autograd::assign(array, array + o.mean);
                 }));
}

}  // namespace nn::init
