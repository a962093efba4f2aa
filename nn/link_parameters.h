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
// True while functional_call() computes on this thread with other variables in the place of parameters.
bool are_parameters_replaced() noexcept;
// Removes the member of this name that add_param or add_persistent added, if there is one.
void remove_added(Link& link, std::string_view name);

}  // namespace nn::internal
