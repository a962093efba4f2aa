#include <catena/ndarray/user_kernel/memoize.h>

#include <memory>
#include <mutex>
#include <vector>

#include <catena/ndarray/user_kernel/memo_map.h>

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
MemoKey::~MemoKey() = default;
Memo::~Memo() = default;

namespace {

// A key for a look-up, which refers to the caller's key, or a stored key: a copy owns its key.
struct AnyKey {
  const MemoKey* key;
  catena::Owned<MemoKey> owned;

  explicit AnyKey(const MemoKey& k) noexcept : key(&k) {}
  AnyKey(const AnyKey& o) : key(nullptr), owned(o.key->copy()) { key = owned.get(); }
  AnyKey& operator=(const AnyKey&) = delete;
  friend bool operator==(const AnyKey& a, const AnyKey& b) { return a.key->equals(*b.key); }
};
struct AnyKeyHash {
  std::size_t operator()(const AnyKey& k) const { return k.key->hash(); }
};

class MemoOfFunction final : public Memo {
 public:
  catena::Shared<const void> find(const MemoKey& key,
                                  const catena::Function<catena::Shared<const void>()>& compute) override {
    return *table_->find(AnyKey(key), compute);
  }

 private:
  using Table = MemoMap<AnyKey, catena::Shared<const void>, AnyKeyHash>;
  std::shared_ptr<Table> table_ = Table::make();
};

}  // namespace

catena::Shared<Memo> Memo::make() { return catena::Shared<MemoOfFunction>::make(); }

void register_memo(const std::shared_ptr<MemoTable>& table) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  std::erase_if(all.tables, [](const auto& t) { return t.expired(); });
  all.tables.push_back(table);
}

}  // namespace internal

// The tables are emptied without the mutex, because destructors of their values may destroy tables.
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
