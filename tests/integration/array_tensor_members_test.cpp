// PyTorch's members of the framework's arrays, which are those of variables, and updates of parameters without a graph.
#include <boost/test/unit_test.hpp>

#include <catena/autograd/functions/torch_names.h>
#include <catena/autograd/ndarray_backend/in_place.h>
#include <catena/autograd/ndarray_backend/torch_creation.h>
#include <catena/autograd/ndarray_backend/torch_functions.h>
#include <catena/autograd/no_grad.h>
#include <catena/nn/functions/activation.h>
#include <catena/nn/links/linear.h>

using namespace autograd;
using Doubles = std::vector<double>;

namespace {

Array numbers() { return array<double>({1, -2, 3, -4, 5, 6}, {2, 3}); }
Doubles of(const Array& a) { return to_vector<double>(a); }
Doubles of(const nd::Array& a) { return of(Array(a)); }
Doubles of(const Variable& v) { return of(v.data()); }
const auto each = boost::test_tools::per_element();

}  // namespace

BOOST_AUTO_TEST_SUITE(array_tensor_members)

// The values are NumPy's of a = [[1, -2, 3], [-4, 5, 6]].
BOOST_AUTO_TEST_CASE(values_of_members) {
  const Array a = numbers(), rows = array<std::int64_t>({1, 0}, {2});
  BOOST_TEST(of(a.select(1, 0)) == (Doubles{1, -4}), each);
  BOOST_TEST(of(a.narrow(1, 1, 2)) == (Doubles{-2, 3, 5, 6}), each);
  BOOST_TEST(of(a.slice(1, 0, 3, 2)) == (Doubles{1, 3, -4, 6}), each);
  BOOST_TEST(of(a.index({Slice(), Slice(None, None, 2)})) == (Doubles{1, 3, -4, 6}), each);
  BOOST_TEST(of(a.masked_fill(a < 0, 0.0)) == (Doubles{1, 0, 3, 0, 5, 6}), each);
  BOOST_TEST(of(a.index_select(0, rows)) == (Doubles{-4, 5, 6, 1, -2, 3}), each);
  BOOST_TEST(of(a.chunk(2, 0)[1]) == (Doubles{-4, 5, 6}), each);
  BOOST_TEST(of(a.split(2, 1)[1]) == (Doubles{3, 6}), each);
  BOOST_TEST(of(a.split({1, 2}, 1)[0]) == (Doubles{1, -4}), each);
  BOOST_TEST(of(a.unbind(1)[2]) == (Doubles{3, 6}), each);
  BOOST_TEST(of(a.mm(a.t())) == (Doubles{14, 4, 4, 77}), each);
  BOOST_TEST(of(a.relu()) == (Doubles{1, 0, 3, 0, 5, 6}), each);
  BOOST_TEST(of(a.sign()) == (Doubles{1, -1, 1, -1, 1, 1}), each);
  BOOST_TEST(of(a.clamp({.min = 0, .max = 4})) == (Doubles{1, 0, 3, 0, 4, 4}), each);
  BOOST_TEST(of(a.clamp(-1, 1)) == (Doubles{1, -1, 1, -1, 1, 1}), each);
  BOOST_TEST(of(a.view({3, 2})) == of(a), each);
  BOOST_TEST((a.view({-1}).shape() == Shape{6} && a.view(3, -1).shape() == Shape{3, 2} && a.view(-1).ndim() == 1));
  BOOST_TEST(of(a.narrow(0, 0, 1).expand({2, 3})) == (Doubles{1, -2, 3, 1, -2, 3}), each);
  BOOST_TEST(of(a.narrow(0, 0, 1).expand(2, 3)) == (Doubles{1, -2, 3, 1, -2, 3}), each);
  BOOST_TEST(of(a.flip({1})) == (Doubles{3, -2, 1, 6, 5, -4}), each);
  BOOST_TEST((a.tile({2, 1}).shape() == Shape{4, 3} && a.sizes() == Shape{2, 3}));
  BOOST_TEST(of(a.topk(1).values) == (Doubles{3, 6}), each);
  BOOST_TEST((a.to_long().dtype() == Dtype::int64 && a.type(Dtype::float32).dtype() == Dtype::float32));
  BOOST_TEST((a.eq(a).all().item() == 1 && a.is_floating_point() &&
              a.is_cuda() == (a.device().kind == Device::Kind::cuda) && a.defined()));
  BOOST_TEST(!Array().defined());
  BOOST_TEST(!a.detach().requires_grad());
}

// Views have the memory of the array; index_put_ writes into it and returns it.
BOOST_AUTO_TEST_CASE(writes) {
  const Array a = numbers();
  a.select(0, 1).fill_(7);
  a.narrow(1, 0, 1).copy_(array<double>({8, 9}, {2, 1}));
  BOOST_TEST(of(a) == (Doubles{8, -2, 3, 9, 7, 7}), each);
  const Array& same = a.index_put_({0, Slice(1, None)}, 1).index_put_({1, 2}, 5, true);
  BOOST_TEST(&same == &a);
  BOOST_TEST(of(a) == (Doubles{8, 1, 1, 9, 7, 12}), each);
  a.index_put_({Slice(), Slice(0, None, 2)}, Variable(array<double>({1, 2}, {2}), {.requires_grad = false}));
  BOOST_TEST(of(a) == (Doubles{1, 1, 2, 1, 7, 2}), each);
}

// w -= rate * w.grad() writes into the array of a root with a gradient, for all handles of it.
BOOST_AUTO_TEST_CASE(updates_without_a_graph) {
  Variable w = randn({3}, {.dtype = Dtype::float64, .requires_grad = true});
  w.data().copy_(array<double>({1, 2, 4}, {3}));
  const Variable handle = w;
  (w * w).sum().backward();
  {
    const auto scope = no_grad();
    w -= 0.25 * w.grad();
    w += 1;
    w *= 2;
    w /= 4;
    w.grad().zero_();
  }
  BOOST_TEST((w.is_same(handle) && w.requires_grad() && w.is_leaf()));
  BOOST_TEST(of(handle) == (Doubles{0.75, 1, 1.5}), each);
  BOOST_TEST(of(handle.grad()) == (Doubles{0, 0, 0}), each);
  // With a graph, a new variable is assigned.
  w -= 1;
  BOOST_TEST((!w.is_same(handle) && w.creator() != nullptr));
  BOOST_TEST(of(handle) == (Doubles{0.75, 1, 1.5}), each);
  const auto scope = no_grad();
  // Roots without a gradient, as in h = x; h += f(x), and results of other shapes are assigned as well.
  const Variable x(numbers());
  Variable h = x;
  h += 1;
  BOOST_TEST(!h.is_same(x));
  BOOST_TEST(of(x) == of(numbers()), each);
  Variable total = handle;
  total += array<double>({1, 1, 1, 2, 2, 2}, {2, 3});
  BOOST_TEST((total.shape() == Shape{2, 3} && handle.shape() == Shape{3}));
}

// A parameter is written in place also before it has a gradient, by itself and by its handle.
BOOST_AUTO_TEST_CASE(updates_of_parameters) {
  nn::Linear layer(3, 2, {.initialW = 2.0});
  Variable p = layer.parameters()[0];
  const Variable W = layer.W;
  {
    const auto scope = no_grad();
    p *= 0.5;
    layer.weight += 1;
    layer.weight -= W;
    layer.weight.data() += 3;
    layer.weight /= 2;
    layer.weight *= 3;
  }
  BOOST_TEST(W.is_same(layer.W));
  BOOST_TEST(of(layer.W) == Doubles(6, 4.5), each);
  BOOST_CHECK_THROW(layer.weight -= 1, catena::RuntimeError);
}

// backward(gradient), and grad() with PyTorch's arguments in their order.
BOOST_AUTO_TEST_CASE(gradients_by_position) {
  const Variable x(array<double>({1, 2}, {2}));
  (x * x).backward(array<double>({1, 10}, {2}));
  BOOST_TEST(of(x.grad()) == (Doubles{2, 40}), each);
  x.cleargrad();
  (x * x).backward(Variable(array<double>({1, 1}, {2})), {.retain_graph = true});
  BOOST_TEST(of(x.grad()) == (Doubles{2, 4}), each);
  BOOST_CHECK_THROW((x * x).backward(array<double>({1}, {1})), catena::ValueError);
  const Variables first = grad({x * x * x}, {x}, {Variable(arrays::ones({2}, Dtype::float64))}, true, true);
  BOOST_TEST(of(first[0]) == (Doubles{3, 12}), each);
  BOOST_TEST(of(grad({first[0].sum()}, {x})[0]) == (Doubles{6, 12}), each);
  BOOST_TEST(
      (grad({x * x}, {x}, {Variable(arrays::ones({2}, Dtype::float64))}, true, false, true)[0].creator() == nullptr));
  BOOST_TEST((x.defined() && !Variable().defined()));
}

BOOST_AUTO_TEST_SUITE_END()
