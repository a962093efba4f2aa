#include <catena/nn/functions/torch_sequences.h>

#include <catena/autograd/functions/array.h>
#include <catena/nn/functions/array.h>

namespace nn::utils::rnn {

autograd::Variable pad_sequence(const autograd::Variables& sequences, const PadSequenceOptions& o) {
  const autograd::Variable rows = nn::pad_sequence(sequences, {}, o.padding_value);
  return o.batch_first ? rows : autograd::swapaxes(rows, 0, 1);
}

}  // namespace nn::utils::rnn
