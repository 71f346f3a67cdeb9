// The rows of queries that were read before, for work that asks the same ones again and again.
// Database::remember() begins it. Used on the database's thread.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <typeindex>
#include <unordered_map>
#include <utility>
#include <vector>

namespace sonde::store {

class RowMemo {
 public:
  // Whether rows of a type can be kept: they own all that they have.
  template <typename Row>
  static constexpr bool canKeep() {
    return ownsAll(static_cast<decltype(std::declval<Row&>().columns())*>(nullptr));
  }

  // nullptr: not known.
  template <typename Row>
  const std::vector<Row>* find(std::string_view sql) const {
    const auto found = all_.find(keyOf<Row>(sql));
    return found == all_.end() ? nullptr
                               : static_cast<const std::vector<Row>*>(found->second.get());
  }

  // Drops them if they are too many.
  template <typename Row>
  void keep(std::string_view sql, std::vector<Row> rows) {
    if (rows.size() * sizeof(Row) > kMostBytes - bytes_)
      return;
    bytes_ += rows.size() * sizeof(Row);
    all_[keyOf<Row>(sql)] = std::make_shared<const std::vector<Row>>(std::move(rows));
  }

 private:
  static constexpr std::size_t kMostBytes = std::size_t{1} << 30;  // without texts

  using Key = std::pair<std::type_index, std::string>;
  struct Hash {
    std::size_t operator()(const Key& key) const noexcept {
      return key.first.hash_code() ^ std::hash<std::string>()(key.second);
    }
  };

  template <typename... Columns>
  static constexpr bool ownsAll(std::tuple<Columns...>*) {
    return !(std::is_same_v<std::remove_cvref_t<Columns>, std::string_view> || ...);
  }
  template <typename Row>
  static Key keyOf(std::string_view sql) {
    return {typeid(Row), std::string(sql)};
  }

  std::unordered_map<Key, std::shared_ptr<const void>, Hash> all_;
  std::size_t bytes_ = 0;
};

}  // namespace sonde::store
