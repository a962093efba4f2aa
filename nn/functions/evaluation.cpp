#include <catena/nn/functions/evaluation.h>

#include <catena/autograd/function_node.h>
#include <catena/kernels/rows/families.h>
#include <catena/nn/functions/labels.h>

namespace nn {

using autograd::apply;
using autograd::Array;
using autograd::Arrays;
using autograd::Dtype;
using autograd::FunctionNode;

namespace {

class Accuracy final : public FunctionNode {
 public:
  explicit Accuracy(std::optional<int> ignore_label) : ignore_label_(ignore_label) {}
  std::string label() const override { return "Accuracy"; }
  std::string_view input_names() const override { return "y t"; }

  void check_type_forward(const autograd::type_check::TypeInfoTuple& in_types) const override {
    using namespace autograd::type_check;
    expect(in_types.size() == 2, in_types[0].dtype.kind() == 'f');
    internal::expect_labels(in_types, 1);
    expect(in_types[0].ndim >= in_types[1].ndim, in_types[0].ndim >= 2, in_types[0].shape[0] == in_types[1].shape[0]);
    const int rank = in_types.shape(1).size();
    for (int a = 2; a < in_types.shape(0).size(); ++a) {
      if (a <= rank) expect(in_types[0].shape[a] == in_types[1].shape[a - 1]);
      else expect(in_types[0].shape[a] == 1);
    }
  }

  Arrays forward(const Arrays& in) override {
    const Array &y = in[0], t = internal::labels_of(in[1]);
    internal::check_labels("accuracy", in[1], y.shape(1), ignore_label_, true);
    const Array predicted = autograd::reshape(autograd::reduce(catena::rows::argmax, y, 1), t.shape());
    const Array hit = apply(catena::rows::equal, {predicted, t});
    // Counts can exceed the range of 16-bit floats.
    const Dtype counting = catena::compute_dtype(y.dtype());
    if (!ignore_label_) return {autograd::astype(autograd::mean(autograd::astype(hit, counting)), y.dtype())};
    const Array valid = apply(catena::rows::not_equal, {t, *ignore_label_});
    const auto count = [&](const Array& a) {
      return autograd::astype(autograd::reduce(catena::rows::count_nonzero, a), counting);
    };
    const Array hits = count(apply(catena::rows::logical_and, {hit, valid}));
    return {autograd::astype(hits / apply(catena::rows::maximum, {count(valid), 1.0}), y.dtype())};
  }

 private:
  std::optional<int> ignore_label_;
};

}  // namespace

Variable accuracy(const Variable& y, const Variable& t, std::optional<int> ignore_label) {
  return autograd::apply_node<Accuracy>({y, t}, ignore_label)[0];
}

}  // namespace nn
