// Names of parameters in files of another library: KeyStyle and LoadOptions::rename. Internal to nn.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <catena/kernels/base/function.h>
#include <catena/kernels/formats/npy_stream.h>
#include <catena/nn/serializers/npz.h>

namespace nn::internal {

using Open = catena::Function<catena::Owned<catena::NpyStream>(const std::string& name)>;

// Returns the options with keys to rename that neither begin nor end with slashes, as the other functions require.
LoadOptions with_plain_renames(const LoadOptions& options);
// Returns the names that a key may have in the file: names of an LSTM's arrays first, the name derived only from the
// path last.
std::vector<std::string> styled_names(const LoadOptions& options, const std::string& key);
// Opens the array of a key, computed from the entries of the file; null if the file has none.
catena::Owned<catena::NpyStream> open_styled(const LoadOptions& options, const std::string& key, const Open& open);
// Returns the name of a key with KeyStyle::pytorch: "l1.weight" of "l1/W".
std::string name_in_pytorch(const std::string& key);
// True for counters that files of the other library may not have.
bool may_be_missing(const LoadOptions& options, const std::string& key);

// Returns the entries with the names and elements for the file, in the same order.
std::vector<serializers::DictionarySerializer::Entry> styled_entries(
    const std::vector<serializers::DictionarySerializer::Entry>& entries, KeyStyle style, const KeyRenames& rename);

}  // namespace nn::internal
