#include <catena/training/example_key.h>

#include <utility>

namespace training {
namespace {
thread_local std::optional<ExampleKey> current;
}

std::optional<ExampleKey> example_key() noexcept { return current; }

namespace internal {

ExampleKeyScope::ExampleKeyScope(const ExampleKey& key) noexcept
    : before_(std::exchange(current, std::optional<ExampleKey>(key))) {}
ExampleKeyScope::~ExampleKeyScope() { current = before_; }
void ExampleKeyScope::set(const ExampleKey& key) noexcept { current = key; }

}  // namespace internal
}  // namespace training
