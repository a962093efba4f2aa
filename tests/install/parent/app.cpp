#include HEADER

#ifdef NDEBUG
#error "the asserts of the parent's program are gone"
#endif

int main() {
  catena::set_max_threads(1);
  nd::Array a = nd::zeros({2, 3});
  auto [u, v, w] = nd::ElementwiseKernel("T x", "T u, T v, T w", "u = v = w = x", "three").call<3>(a);
  const auto elements = a.accessor<const double, 2>();
  return u.size() == 6 && v.size() == 6 && w.size() == 6 && !(elements(0, 0) < 0) ? 0 : 1;
}
