// Sequences of different lengths in one array, under the names of PyTorch's module nn.utils.rnn. Recurrent networks
// over lists of sequences (NStepLSTM) need none of these.
//
//   namespace rnn = nn::utils::rnn;
//   auto packed = rnn::pack_padded_sequence(x, {4, 2, 3}, {.batch_first = true, .enforce_sorted = false});
//   auto [output, state] = lstm(packed);              // nn::torch::LSTM, GRU, RNN
//   auto [y, lengths] = rnn::pad_packed_sequence(output, {.batch_first = true});
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <vector>

#include <catena/autograd/variable.h>
#include <catena/kernels/base/named.h>

namespace nn::utils::rnn {

// Options of pad_sequence.
struct PadSequenceOptions {
  bool batch_first = false;
  double padding_value = 0;
};
// Returns sequences (l_i, ...) as one array (L, len(xs), ...), or (len(xs), L, ...) with batch_first, followed by
// padding_value; L is the largest l_i. InvalidType for no sequences and for unequal dtypes or trailing shapes.
// nn::pad_sequence has Chainer's arguments, and the batch first.
CATENA_EXPORT autograd::Variable pad_sequence(const autograd::Variables& sequences,
                                              const PadSequenceOptions& options = {});

// The elements of sequences by time: first those of time 0, then those of time 1, and so on, each time from the longest
// sequence to the shortest one.
struct PackedSequence {
  autograd::Variable data;                // (sum of the lengths, ...)
  std::vector<std::int64_t> batch_sizes;  // the number of sequences that are longer than t, for each time t
  // The number of the k-th longest of the given sequences, and the place of each of them; empty if they were sorted.
  std::vector<std::int64_t> sorted_indices, unsorted_indices;
};
struct PackOptions {
  bool batch_first = false;
  bool enforce_sorted = true;  // ValueError for lengths that increase; false: they are sorted
};
struct PadPackedOptions {
  bool batch_first = false;
  double padding_value = 0;
  std::optional<std::int64_t> total_length = {};  // at least the greatest length (ValueError)
};
struct PaddedSequences {
  autograd::Variable output;          // (L, B, ...), or (B, L, ...) with batch_first
  std::vector<std::int64_t> lengths;  // of the sequences in their given order
};
// Packs sequences x (L, B, ...), or (B, L, ...) with batch_first, of these lengths. ValueError for lengths below 1 or
// above L, and for another number of them.
CATENA_EXPORT PackedSequence pack_padded_sequence(const autograd::Variable& x, const std::vector<std::int64_t>& lengths,
                                                  const PackOptions& options = {});
CATENA_EXPORT PackedSequence pack_padded_sequence(const autograd::Variable& x, const autograd::Array& lengths,
                                                  const PackOptions& options = {});
template <autograd::PlainVariable V>
PackedSequence pack_padded_sequence(const autograd::Variable& x, const V& lengths, const PackOptions& options = {}) {
  return pack_padded_sequence(x, lengths.data(), options);
}
struct PackSequenceOptions {
  bool enforce_sorted = true;
};
// Packs sequences (l_i, ...). Errors as above and as pad_sequence.
CATENA_EXPORT PackedSequence pack_sequence(const autograd::Variables& sequences,
                                           const PackSequenceOptions& options = {});
CATENA_EXPORT PaddedSequences pad_packed_sequence(const PackedSequence& packed, const PadPackedOptions& options = {});

// The sequences of these lengths that pad_sequence() or pack_sequence() joined, (l_i, ...) each. ValueError for another
// number of lengths and for one below 1 or above L.
CATENA_EXPORT autograd::Variables unpad_sequence(const autograd::Variable& padded,
                                                 const std::vector<std::int64_t>& lengths, bool batch_first = false);
CATENA_EXPORT autograd::Variables unpad_sequence(const autograd::Variable& padded, const autograd::Variable& lengths,
                                                 bool batch_first = false);
struct UnpadSequenceOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  bool batch_first = false;
};
template <class L = std::vector<std::int64_t>, std::same_as<UnpadSequenceOptions> O = UnpadSequenceOptions>
autograd::Variables unpad_sequence(const autograd::Variable& padded, const L& lengths, const O& o) {
  return unpad_sequence(padded, lengths, o.batch_first);
}
CATENA_EXPORT autograd::Variables unpack_sequence(const PackedSequence& packed);
// The places of 0, 1, ... in a permutation: {2, 0, 1} -> {1, 2, 0}. ValueError for another list.
CATENA_EXPORT std::vector<std::int64_t> invert_permutation(const std::vector<std::int64_t>& permutation);
CATENA_EXPORT autograd::Variable invert_permutation(const autograd::Variable& permutation);

}  // namespace nn::utils::rnn
