// Sequences of different lengths in one array, under the names of PyTorch's module nn.utils.rnn. Packed sequences have
// no class here: recurrent networks over sequences (NStepLSTM) take a list of them.
#pragma once

#include <catena/autograd/variable.h>

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

}  // namespace nn::utils::rnn
