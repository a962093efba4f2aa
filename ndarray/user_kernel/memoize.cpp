#include <catena/ndarray/user_kernel/memoize.h>

#include <vector>

namespace nd {
namespace {

struct Registry {
  std::mutex mutex;
  std::vector<std::weak_ptr<internal::MemoTable>> tables;
};
Registry& registry() {
  static auto& all = *new Registry;
  return all;
}

}  // namespace

namespace internal {

MemoTable::~MemoTable() = default;

void register_memo(const std::shared_ptr<MemoTable>& table) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  std::erase_if(all.tables, [](const auto& t) { return t.expired(); });
  all.tables.push_back(table);
}

}  // namespace internal

// The tables are emptied without the lock: what they hold may own tables itself.
void clear_memo() {
  std::vector<std::shared_ptr<internal::MemoTable>> tables;
  {
    Registry& all = registry();
    const std::lock_guard lock(all.mutex);
    for (const auto& t : all.tables)
      if (auto table = t.lock()) tables.push_back(std::move(table));
  }
  for (const auto& table : tables) table->clear();
}

}  // namespace nd
