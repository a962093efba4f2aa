// Sequences of unequal lengths, packed into rows of one length.
#pragma once

#include <cstdint>
#include <vector>

#include <catena/training/dataset.h>

namespace training {

// Puts sequences one after the other into rows of `length`, so that little is padding: each into the first row that has
// space for it, in their order (first fit). The result is a map of arrays on the CPU
//   "values"     (rows, length, ...) the sequences, and `padding` after them
//   "segments"   (rows, length) int32: the number of the sequence within its row, from 1; 0 for padding
//   "positions"  (rows, length) int32: the position within the sequence, from 0
// Attention between positions of equal segments keeps the sequences apart. Sequences are arrays (length, ...) of one
// dtype that agree in their other axes. ValueError for no sequences, one that is empty or longer than a row, and ones
// that differ from the first; the message has its number.
//   training::Example rows = training::pack_sequences(sentences, 512);
CATENA_EXPORT Example pack_sequences(const std::vector<Array>& sequences, std::int64_t length, double padding = 0);

}  // namespace training
