// Files that PyTorch's torch.save has written: state dictionaries and checkpoints (.pt, .pth).
//
//   nn::load_torch("resnet18.pth", model);                                      // names of PyTorch: KeyStyle::pytorch
//   nn::load_torch("checkpoint.pt", model, {.path = "model"});                  // {"model": state_dict, "epoch": 3}
//   auto arrays = nn::read_torch("model.pt");                                   // arrays["conv.weight"]
//
// A file is a zip archive with a pickle and the bytes of storages, or, from versions before 1.6, pickles one after the
// other with the bytes behind them. Nothing is executed: of the classes and functions that a pickle may name, those of
// tensors, storages, OrderedDict and torch.Size are known, and every other one is a ValueError with its name. A whole
// model, which torch.save(model) writes, is therefore refused: save its state_dict().
//
// Nested dictionaries, lists and tuples give names with dots: "model.conv.weight", "optimizer.state.0.exp_avg". Numbers
// are arrays of shape () (int64, float64, bool); texts are no arrays (nn::load has them), and None is left out. The
// views of one storage are separate arrays. The file is not trusted: every tensor must lie within its storage, and one
// with more elements than its storage may have 2^26 at most.
#pragma once

#include <concepts>
#include <string>

#include <catena/kernels/base/error_context.h>
#include <catena/nn/serializers/named_tensors.h>

namespace nn::serializers {

// Opens a file of torch.save. IOError if it cannot be read; ValueError if it is no such file, is damaged, names
// another class or function, or has numbers in big-endian order.
CATENA_EXPORT catena::Shared<const NamedTensors> open_torch(const std::string& filename,
                                                            std::string_view op = "open_torch");

// Returns the tensors and numbers of a file by their names.
inline ArrayMap read_torch(const std::string& filename) { return read_all(*open_torch(filename, "read_torch")); }

// Loads parameters and persistent arrays. Has the options and errors of load_npz, except that the style of the names is
// always KeyStyle::pytorch, because the files have no other.
template <class T> LoadReport load_torch(const std::string& filename, T& object, const LoadOptions& options = {}) try {
  LoadOptions styled = options;
  styled.style = KeyStyle::pytorch;
  NamedTensorsDeserializer s(open_torch(filename, "load_torch"), styled);
  return s.load(object);
} catch (...) {
  catena::rethrow_standard("load_torch");
}
template <class T, class First, class... More>
LoadReport load_torch(const std::string& filename, T& object, const First& first,
                      const More&... more) requires(!std::same_as<First, LoadOptions>) {
  return load_torch(filename, object, nn::internal::load_options(first, more...));
}

}  // namespace nn::serializers

namespace nn {
using serializers::load_torch;
using serializers::read_torch;
}  // namespace nn
