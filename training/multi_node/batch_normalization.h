// Batch normalization with the statistics of the batches of all ranks, which together are one large batch: for batches
// so small on each rank that their own statistics are poor.
#pragma once

#include <string>
#include <type_traits>

#include <catena/nn/links/batch_function.h>
#include <catena/nn/links/batch_normalization.h>
#include <catena/training/multi_node/ranks.h>

namespace training {

// nn::batch_normalization() of the batches of all ranks, joined: the mean and the biased variance are of the elements
// on all ranks, whose batches may have different sizes (also 0). Collective, and so is its backward pass: one
// all-reduce each. The gradient of x is that of the sum of the losses of all ranks; those of gamma and beta are of this
// rank's loss with respect to this rank's parameters, so that the mean over the ranks (multi_node_mean_grad) gives that
// of one process whose loss is the mean over the ranks. Can be differentiated again, on all ranks together.
//
// options.running_mean and options.running_var, if they are there, are moved in place, with the unbiased variance of
// all elements, to the same values on all ranks. use_cudnn has no effect. InvalidType as batch_normalization();
// ValueError on all ranks for parameters of different sizes.
CATENA_EXPORT autograd::Variable multi_node_batch_normalization(const autograd::Variable& x,
                                                                const autograd::Variable& gamma,
                                                                const autograd::Variable& beta, AnyCommunicator comm,
                                                                const nn::BatchNormalizationOptions& options = {});

namespace internal {
// Makes `link` normalize over all ranks; one that does so already gets this communicator.
CATENA_EXPORT void normalize_over_ranks(nn::BatchNormalization& link, const AnyCommunicator& comm);
// The same for all links of class BatchNormalization in a model.
CATENA_EXPORT void convert_to_multi_node(nn::Link& model, const AnyCommunicator& comm);
}  // namespace internal

// BatchNormalization that trains with multi_node_batch_normalization(). Parameters, averages, files and test mode are
// those of BatchNormalization, and test mode needs no communication.
//
//   training::MultiNodeBatchNormalization(8, comm, {.decay = 0.99})
//
// (The link is a BatchNormalization with the hook "MultiNodeBatchNormalization"; delete_hook() makes it an ordinary
// one.)
class CATENA_EXPORT MultiNodeBatchNormalization : public nn::BatchNormalization {
 public:
  using Options = nn::BatchNormalizationLinkOptions;
  MultiNodeBatchNormalization(const autograd::Shape& size, AnyCommunicator comm, const Options& options = {})
      : BatchNormalization(size, options) {
    internal::normalize_over_ranks(*this, comm);
  }
  MultiNodeBatchNormalization(int size, AnyCommunicator comm, const Options& options = {})
      : MultiNodeBatchNormalization(autograd::Shape{size}, std::move(comm), options) {}
};

// Returns a copy of the model whose links of class BatchNormalization train with the statistics of all ranks. They keep
// their parameters, averages and options. Links of other classes (BatchRenormalization) stay as they are; links behind
// a shared pointer are shared with the model, and so are converted there, too.
//
//   auto model = training::create_mnbn_model(nn::Classifier(Net()), comm);
template <class L> L create_mnbn_model(const L& model, AnyCommunicator comm) requires(std::is_base_of_v<nn::Link, L>) {
  L converted(model);
  internal::convert_to_multi_node(converted, comm);
  return converted;
}

}  // namespace training
