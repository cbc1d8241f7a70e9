// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "table/inspect.h"

#include "table/batch.h"
#include "table/meta.h"

namespace attrcache {
namespace {

// Inlined, because a call for each keyval would cost as much as the description.
[[gnu::always_inline]] inline void describe(uint64_t word, const Record& record,
                                            const References& references,
                                            attrcache_keyval_info* info) {
  info->keyval = static_cast<int>(word & entry_word::kKeyval);
  info->freed = (word & entry_word::kFreed) != 0;
  info->predefined = (word & entry_word::kOrdinary) == 0;
  info->callbacks = record.callbacks.functions;
  info->attributes = references.count();
}

}  // namespace

size_t list_keyvals(Registry& registry, attrcache_keyval_info* infos, size_t capacity) {
  size_t count = 0;
  registry.for_each([&](uint64_t word, const Record& record, const References& references) {
    if (count < capacity) describe(word, record, references, &infos[count]);
    ++count;
  });
  return count;
}

int describe_keyval(Registry& registry, uint32_t keyval, attrcache_keyval_info* info) {
  const bool found = registry.visit(
      keyval, [info](uint64_t word, const Record& record, const References& references) {
        describe(word, record, references, info);
      });
  return found ? ATTRCACHE_OK : registry.why_not(keyval);
}

size_t list_attributes(const Table& constant, attrcache_attribute_info* infos, size_t capacity) {
  size_t count = 0;
  auto& table = const_cast<Table&>(constant);  // is only read
  if (capacity == 0) {
    table.for_each(
        [&count](uint32_t, const Pair& slot) { count += meta::visible(slot.load_meta()); });
    return count;
  }
  Batch batch(table, Batch::Order::kOldestFirst);
  while (batch.next()) {
    for (unsigned i = 0; i < batch.count(); ++i) {
      const Batch::Item& item = batch[i];
      const SlotContent now = item.slot->load();
      if (!meta::visible(now.meta)) continue;
      if (count < capacity) {
        infos[count] = {
            .keyval = static_cast<int>(meta::keyval(now.meta, item.index)),
            .tag = meta::tag(now.meta),
            .value = static_cast<intptr_t>(now.value),
            .pins = static_cast<unsigned>(meta::pinned(now.meta) ? meta::holds(now.meta) : 0),
            .deleting = meta::deleting(now.meta) && !meta::pinned(now.meta)};
      }
      ++count;
    }
  }
  return count;
}

}  // namespace attrcache
