// Python pickles of data sets. Internal to this folder.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <catena/kernels/formats/pickle.h>

namespace training::datasets::internal {

using catena::PickleNode;

// A pickle with NumPy arrays of bytes: of kind array, with their shape, the bytes in C order being the text.
class Pickle final : public catena::PickleReader {
 public:
  // `context` is the beginning of messages. `bytes` is not used after the constructor.
  Pickle(std::string context, std::string_view bytes);

 private:
  bool can_call(std::string_view global) const override;
  PickleNode& call(const PickleNode& function, const std::vector<PickleNode*>& arguments) override;
  void set_state(PickleNode& object, const PickleNode& state) override;
  void build_array(PickleNode& array, const PickleNode& state);
};

}  // namespace training::datasets::internal
