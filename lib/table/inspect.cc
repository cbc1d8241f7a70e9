// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "table/inspect.h"

#include "table/batch.h"
#include "table/left.h"
#include "table/meta.h"

namespace attrcache {
namespace {

// Inlined, because a call for each keyval would cost as much as the description.
[[gnu::always_inline]] inline void describe(int number, uint64_t word, const Record& record,
                                            const References& references,
                                            attrcache_keyval_info* info) {
  info->keyval = number;
  info->freed = (word & entry_word::kFreed) != 0;
  info->predefined = 0;
  info->callbacks = record.callbacks;
  info->attributes = references.count();
}

// The same of a definition, whose values are in no table.
void describe(const Definition& definition, attrcache_keyval_info* info) {
  *info = {};
  info->keyval = definition.number;
  info->predefined = 1;
}

}  // namespace

size_t list_keyvals(Registry& registry, attrcache_keyval_info* infos, size_t capacity) {
  attrcache_keyval_info* next = infos;
  const attrcache_keyval_info* const end = infos + capacity;
  size_t beyond = 0;  // how many there is no room for
  const uint32_t mask = registry.settings().mask;
  registry.for_each([&](uint64_t word, const Record& record, const References& references) {
    if (next == end) [[unlikely]] {
      ++beyond;
      return;
    }
    const auto number = static_cast<int>(static_cast<uint32_t>(word) ^ mask);
    describe(number, word, record, references, next++);
  });
  size_t count = static_cast<size_t>(next - infos) + beyond;
  registry.definitions().for_each([&](const Definition& definition) {
    if (count < capacity) describe(definition, &infos[count]);
    ++count;
  });
  return count;
}

int describe_keyval(Registry& registry, int number, attrcache_keyval_info* info) {
  const id::Keyval keyval = registry.keyval_of(number);
  if (const Definition* definition = registry.definitions().find(number)) {
    describe(*definition, info);
    return ATTRCACHE_OK;
  }
  const bool found = registry.visit(
      keyval, [&](uint64_t word, const Record& record, const References& references) {
        describe(number, word, record, references, info);
      });
  return found ? ATTRCACHE_OK : registry.why_not(keyval);
}

size_t list_attributes(const Registry& registry, const Table& constant,
                       attrcache_attribute_info* infos, size_t capacity) {
  size_t count = 0;
  auto& table = const_cast<Table&>(constant);  // is only read
  if (capacity == 0) {
    table.for_each(
        [&count](uint32_t, const Pair& slot) { count += meta::visible(slot.load_meta()); });
    return count;
  }
  Batch batch(table, Batch::Order::kOldestFirst, &registry.memory());
  while (batch.next()) {
    for (unsigned i = 0; i < batch.count(); ++i) {
      const Batch::Item& item = batch[i];
      const SlotContent now = item.slot->load();
      if (!meta::visible(now.meta)) continue;
      if (count < capacity) {
        const unsigned pins = meta::read(now.meta)
                                  ? count_holders(registry.readers(), table, *item.slot, now.meta)
                                  : 0;
        infos[count] = {registry.number_of(meta::keyval(now.meta, item.index)), meta::tag(now.meta),
                        static_cast<intptr_t>(now.value), pins, meta::deleting(now.meta)};
      }
      ++count;
    }
  }
  return count;
}

}  // namespace attrcache
