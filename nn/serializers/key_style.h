// The names of parameters in files of another library: KeyStyle and LoadOptions::rename. Internal to this folder.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <catena/kernels/base/function.h>
#include <catena/kernels/formats/npy_stream.h>
#include <catena/nn/serializers/npz.h>

namespace nn::internal {

using Open = catena::Function<catena::Owned<catena::NpyStream>(const std::string& name)>;

// The options with keys to rename that neither begin nor end with slashes, which the others ask for.
LoadOptions with_plain_renames(const LoadOptions& options);
// The names that a key may have in the file: those of an LSTM's arrays first, what its path alone says last.
std::vector<std::string> styled_names(const LoadOptions& options, const std::string& key);
// The array of a key, made of what the file has; null if it has nothing.
catena::Owned<catena::NpyStream> open_styled(const LoadOptions& options, const std::string& key, const Open& open);
// Counters that files of the other library may lack.
bool may_be_missing(const LoadOptions& options, const std::string& key);

// The entries as the file is to have them, in the same order.
std::vector<serializers::DictionarySerializer::Entry> styled_entries(
    const std::vector<serializers::DictionarySerializer::Entry>& entries, KeyStyle style, const KeyRenames& rename);

}  // namespace nn::internal
