#include <catena/nn/links/classifier.h>

namespace nn {

std::size_t LabelKey::in(const Variables& args) const {
  if (name_.empty()) {
    const auto n = static_cast<std::int64_t>(args.size());
    catena::check<catena::IndexError>(position_ >= -n && position_ < n, "Classifier", "label_key is ", position_,
                                      ", and there are ", n, " arguments");
    return static_cast<std::size_t>(position_ < 0 ? position_ + n : position_);
  }
  std::string names;
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (args[i] && args[i].name() == name_) return i;
    names += (names.empty() ? "" : ", ") + (args[i] ? args[i].name() : std::string());
  }
  catena::fail<catena::KeyError>("Classifier", "label_key is ", name_,
                                 ", and no argument has this name (there are: ", names, ")");
}

}  // namespace nn
