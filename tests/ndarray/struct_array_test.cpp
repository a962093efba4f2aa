// Arrays of objects of a class in kernels given as text, against the same computation in the program.
#include <catena/ndarray/user_kernel/struct_array.h>

#include <catena/ndarray/routines/math.h>
#include <catena/ndarray/user_kernel/elementwise_kernel.h>
#include <catena/ndarray/user_kernel/raw_kernel.h>
#include <catena/ndarray/user_kernel/reduction_kernel.h>
#include <catena/tests/support/ndarray_values.h>

namespace {

using nd::Array;
using nd::ElementwiseKernel;
using test::check_values;
using test::contains;
using test::message_of;

ND_STRUCT(Particle, {
  float x, y;
  float v[2];
  double mass;
  unsigned char kind;
})
static_assert(sizeof(Particle) == 32);

std::vector<Particle> particles(int n) {
  std::vector<Particle> all;
  for (int k = 0; k < n; ++k)
    all.push_back({float(k), float(2 * k), {0.5f * float(k), -1.0f}, 1.0 / (k + 1), static_cast<unsigned char>(k)});
  return all;
}

const ElementwiseKernel& move() {
  static const ElementwiseKernel kernel("float32 dt", "raw Particle p",
                                        "p[i].x += p[i].v[0] * dt; p[i].y += p[i].v[1] * dt; p[i].kind += 1", "move",
                                        {.preamble = Particle_text});
  return kernel;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(struct_array)

BOOST_AUTO_TEST_CASE(objects_of_the_program_in_a_kernel) {
  const auto before = particles(300);
  const Array p = nd::struct_array(before);
  BOOST_TEST((p.shape() == nd::Shape{300, 32} && p.dtype() == nd::uint8 && p.device() == nd::current_device()));
  move()({0.25f, p}, {.size = 300});
  const auto after = nd::to_structs<Particle>(p);
  BOOST_REQUIRE_EQUAL(after.size(), 300u);
  int wrong = 0;
  for (std::size_t k = 0; k < 300; ++k) {
    const Particle &a = before[k], &b = after[k];
    wrong += b.x != a.x + a.v[0] * 0.25f || b.y != a.y - 0.25f || b.mass != a.mass || b.v[1] != -1 ||
             b.kind != static_cast<unsigned char>(a.kind + 1);
  }
  BOOST_TEST(wrong == 0);
}

BOOST_AUTO_TEST_CASE(inputs_beside_numbers) {
  const Array p = nd::struct_array(particles(5));
  const ElementwiseKernel energy("raw Particle p, int64 step", "T e",
                                 "e = p.size() * 1000 + p[i * step].mass * (i * step + 1)", "energy",
                                 {.preamble = Particle_text});
  const Array e = nd::zeros({3}, nd::float64);
  energy(p, 2, e);
  check_values<double>(e, {5001, 5001, 5001});
  const nd::ReductionKernel total("T i0, raw Particle p", "float64 s", "p[_j].x", "a + b", "s = a", "0", "total_x",
                                  {.preamble = Particle_text});
  check_values<double>(total(nd::zeros({5}), p), {10});
}

BOOST_AUTO_TEST_CASE(objects_along_several_axes_and_views) {
  const Array grid = nd::struct_array(particles(6)).reshape(2, 3, 32);
  const ElementwiseKernel read(
      "raw Particle p", "float32 x",
      "const long long at[] = {i % p.shape()[0], i / p.shape()[0]};\nx = p[at].x + 100 * p[i].x", "read_grid",
      {.preamble = Particle_text});
  const auto expected = [&](std::initializer_list<float> by_axes, std::initializer_list<float> by_position) {
    std::vector<float> sum;
    for (std::size_t k = 0; k < by_axes.size(); ++k) sum.push_back(by_axes.begin()[k] + 100 * by_position.begin()[k]);
    return sum;
  };
  check_values(read({grid}, {.size = 6}), expected({0, 3, 1, 4, 2, 5}, {0, 1, 2, 3, 4, 5}));
  const Array other = grid(nd::ellipsis, nd::Slice({}, {}, 2), nd::_);  // columns 0 and 2
  check_values(read({other}, {.size = 4}), expected({0, 3, 2, 5}, {0, 2, 3, 5}));
}

BOOST_AUTO_TEST_CASE(members_as_arrays) {
  const Array p = nd::struct_array(particles(4));
  const Array x = nd::struct_field(p, &Particle::x), v = nd::struct_field(p, &Particle::v),
              mass = nd::struct_field(p, &Particle::mass), kind = nd::struct_field(p, &Particle::kind);
  check_values<float>(x, {0, 1, 2, 3});
  BOOST_TEST((v.shape() == nd::Shape{4, 2} && v.dtype() == nd::float32 && kind.dtype() == nd::uint8));
  check_values<float>(v, {0, -1, 0.5, -1, 1, -1, 1.5, -1});
  check_values<double>(mass, {1, 0.5, 1.0 / 3, 0.25});
  check_values<int>(kind, {0, 1, 2, 3});
  x(nd::ellipsis) = mass * 8;  // a view
  BOOST_TEST(nd::to_structs<Particle>(p)[3].x == 2.0f);
  BOOST_TEST(nd::to_structs<Particle>(p)[3].y == 6.0f);
}

BOOST_AUTO_TEST_CASE(zeros_and_nothing) {
  const Array p = nd::struct_array<Particle>(2), none = nd::struct_array(std::vector<Particle>());
  BOOST_TEST(nd::to_structs<Particle>(p)[1].mass == 0);
  BOOST_TEST((none.shape() == nd::Shape{0, 32}));
  BOOST_TEST(nd::to_structs<Particle>(none).empty());
  BOOST_TEST(nd::struct_field(none, &Particle::y).size() == 0);
  move()({1.0f, none}, {.size = 0});
}

BOOST_AUTO_TEST_CASE(pointers_of_raw_kernels) {
  const nd::RawKernel kernel(std::string(Particle_text) + R"(
extern "C" __global__ void age(Particle* p, int n) {
  const int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k < n) p[k].mass *= 2;
})",
                             "age");
  const Array p = nd::struct_array(particles(3));
  kernel(1, 32, {p, 3});
  BOOST_TEST(nd::to_structs<Particle>(p)[1].mass == 1.0);
}

BOOST_AUTO_TEST_CASE(what_is_refused) {
  const Array p = nd::struct_array(particles(3));
  BOOST_TEST(
      message_of<nd::ValueError>([&] {
        move()({1.0f, p(nd::_, nd::Slice(0, 16))}, {.size = 3});
      }) ==
      "ElementwiseKernel move: the parameter p is an array of Particle of 32 bytes; its array of shape (3, 16) has "
      "16 bytes along the last axis");
  BOOST_TEST(contains(message_of<nd::TypeError>([&] {
                        move()({1.0f, p.view(nd::float32)}, {.size = 3});
                      }),
                      "the parameter p is an array of Particle, which needs uint8 elements"));
  BOOST_CHECK_THROW(move()({1.0f, p.transpose()}, {.size = 3}), nd::TypeError);
  BOOST_TEST(contains(message_of<nd::TypeError>([&] { move()({1.0f}, {.size = 3}); }),
                      "the parameter p of Particle needs an array, as nd::struct_array makes"));
  BOOST_TEST(contains(message_of<nd::ValueError>([] { ElementwiseKernel("raw Partikel p", "T y", "y = 0", "k"); }),
                      "ElementwiseKernel k: the type Partikel of p is neither a dtype by its canonical name"));
  BOOST_CHECK_THROW(ElementwiseKernel("raw Part p", "T y", "", "k", {.preamble = Particle_text}), nd::ValueError);
  BOOST_TEST(contains(
      message_of<nd::ValueError>([] { ElementwiseKernel("Particle p", "T y", "", "k", {.preamble = Particle_text}); }),
      "a class of the preamble needs raw before it"));
  BOOST_CHECK_THROW(ElementwiseKernel("raw double p", "T y", "", "k", {.preamble = "double"}), nd::ValueError);
  BOOST_CHECK_THROW(nd::struct_array<Particle>(-1), nd::ValueError);
  BOOST_TEST(contains(message_of<nd::TypeError>([&] { nd::to_structs<Particle>(p.view(nd::float32)); }),
                      "to_structs: an array of objects has dtype uint8, this one is float32"));
  BOOST_TEST(contains(message_of<nd::ValueError>([&] {
                        nd::to_structs<Particle>(nd::zeros({2, 8}, nd::uint8));
                      }),
                      "an object has 32 bytes"));
  BOOST_CHECK_THROW(nd::struct_field(nd::zeros({32, 32}, nd::uint8).transpose(), &Particle::x), nd::ValueError);
  const Array odd = nd::zeros({2, 33}, nd::uint8)(nd::_, nd::Slice(0, 32));
  BOOST_CHECK_THROW(nd::struct_field(odd, &Particle::x), nd::ValueError);
  const ElementwiseKernel each("T x, raw Particle p", "T y", "y = x", "each", {.preamble = Particle_text});
  BOOST_CHECK_THROW(each({nd::zeros({3}), 1.0}, {}), nd::TypeError);
}

// The work of a position decides how the CPU divides a loop; the result is the same.
BOOST_AUTO_TEST_CASE(work_of_a_position) {
  const ElementwiseKernel fill("int64 k", "raw int32 y", "y[i] = k + i", "fill_positions");
  const Array y = nd::zeros({1000}, nd::int32);
  for (const std::int64_t elements : {1, 100, 100000}) {
    fill({elements, y}, {.size = 1000, .elements_per_position = elements});
    BOOST_TEST(y(999).item<int>() == 999 + elements);
  }
  BOOST_TEST(contains(message_of<nd::ValueError>([&] {
                        fill({1, y}, {.size = 1, .elements_per_position = 0});
                      }),
                      "elements_per_position = 0 is not positive"));
}

BOOST_AUTO_TEST_SUITE_END()
