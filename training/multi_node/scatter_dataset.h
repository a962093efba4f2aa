// The parts of a dataset for the ranks of a distributed run.
#pragma once

#include <cstdint>
#include <optional>

#include <catena/training/dataset.h>
#include <catena/training/multi_node/ranks.h>

namespace training {

struct ScatterDatasetOptions {
  int root = 0;  // the rank with the dataset
  // true: the parts are of a random order, numpy_permutation(n, seed) as in ChainerMN; without a seed, it is drawn from
  // the default generator of the root.
  bool shuffle = false;
  std::optional<std::uint64_t> seed = {};  // below 2^32
  // true: all parts have ceil(n / size) examples, so that all ranks have batches of one size; some examples are then in
  // two parts. false: every example is in one part, and the sizes of parts differ by one at most.
  bool force_equal_length = true;
};

// Collective. Returns the part of this rank: of n examples those from n rank / size on (rounded down).
//
//   training::DatasetPtr train;
//   if (comm->rank() == 0) train = load();                       // the other ranks give none
//   train = training::scatter_dataset(train, comm, {.shuffle = true});
//
// If only some ranks have a dataset, that of the root counts: the root loads the examples of all parts and sends them,
// and the other ranks hold them in host memory. Random draws of a transform are then made once, so transforms of
// that kind are added to the parts. If all ranks have it (their sizes must agree), only the order is sent, and each
// rank loads the examples of its part as they are needed.
//
// ValueError on all ranks if the root has none, for sizes that differ, and for a root that is no rank. An exception of
// a dataset on the root is thrown on all ranks. An AnyDataset that is borrowed must outlive the part of its rank.
CATENA_EXPORT DatasetPtr scatter_dataset(AnyDataset dataset, AnyCommunicator comm,
                                         const ScatterDatasetOptions& options = {});

struct ScatterIndexOptions {
  int root = 0;  // the rank whose `n` counts
  bool force_equal_length = true;
};
// Positions of examples.
struct IndexRange {
  std::int64_t begin, end;  // the end is not in the range
};
// Collective. The positions of this rank's part of n examples, as in scatter_dataset:
//   auto [begin, end] = training::scatter_index(n, comm);
// ValueError for a negative n.
CATENA_EXPORT IndexRange scatter_index(std::int64_t n, AnyCommunicator comm, const ScatterIndexOptions& options = {});

// A dataset of the same size whose examples have no components: for ranks that take part in the iterations of a model
// in parts and get their inputs from other ranks.
CATENA_EXPORT DatasetPtr create_empty_dataset(AnyDataset dataset);

}  // namespace training
