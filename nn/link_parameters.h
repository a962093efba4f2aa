// The parameters of a link as members that can be replaced. Internal to nn and training.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <catena/nn/link.h>

namespace nn::internal {

struct PathParameter {
  std::string path;
  Parameter* parameter;
};
// In the order of Link::params(), and tied parameters at each of their places.
std::vector<PathParameter> parameters_of(const Link& l);
// Ties the parameters of a link at the paths at which those of the other one are tied, as the copy of a link is not.
CATENA_EXPORT void tie_as(Link& link, const Link& other);
// True while functional_call() or a hook of a weight computes on this thread with other variables in the place of
// parameters.
bool are_parameters_replaced() noexcept;
// The number of replacements in progress on this thread: functional_call() and hooks of weights increase and decrease
// it.
int& parameter_replacements() noexcept;
// PyTorch's name of a parameter of a layer: "weight" of W and gamma, "bias" of b and beta, others as they are.
std::string_view layer_name_of(std::string_view parameter) noexcept;
// The persistent of a link; null if it has none of this name.
Persistent* persistent_of(Link& link, std::string_view name);
// Removes the member of this name that add_param or add_persistent added, if there is one.
void remove_added(Link& link, std::string_view name);

}  // namespace nn::internal
