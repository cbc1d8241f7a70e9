// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "table/inspect.h"

#include "table/batch.h"
#include "table/hand_off.h"
#include "table/meta.h"

namespace attrcache {
namespace {

attrcache_keyval_info described(int number, uint64_t word, const References& references) {
  attrcache_keyval_info info = {};
  info.keyval = number;
  info.freed = (word & entry_word::kFreed) != 0;
  info.attributes = references.count();
  return info;
}

// The same of a definition, whose values are in no table.
attrcache_keyval_info described(const Definition& definition) {
  attrcache_keyval_info info = {};
  info.keyval = definition.given.number;
  info.predefined = 1;
  return info;
}

}  // namespace

size_t list_keyvals(Registry& registry, Inspected<attrcache_keyval_info> infos) {
  size_t count = 0;
  registry.for_each_entry([&](const Entry& entry, const References& references) {
    const uint64_t word = entry.word.load(kAcquire);  // (K1) pairs with K2
    if (!entry_word::exists(word)) return;
    const int number = registry.number_of(entry_word::keyval(word));
    infos.fill(count++, described(number, word, references));
  });
  registry.definitions().for_each(
      [&](const Definition& definition) { infos.fill(count++, described(definition)); });
  return count;
}

int describe_keyval(Registry& registry, int number, const Inspected<attrcache_keyval_info>& info,
                    const Inspected<attrcache_callbacks>& callbacks) {
  const id::Keyval keyval = registry.keyval_of(number);
  if (const Definition* definition = registry.definitions().find(number)) {
    info.fill(0, described(*definition));
    callbacks.fill(0, {});
    return ATTRCACHE_OK;
  }
  const bool found = registry.visit(
      keyval, [&](uint64_t word, const Record& record, const References& references) {
        info.fill(0, described(number, word, references));
        callbacks.fill(0, record.callbacks);
      });
  return found ? ATTRCACHE_OK : registry.why_not(keyval);
}

size_t list_attributes(const Registry& registry, const Table& constant,
                       const Inspected<attrcache_attribute_info>& infos) {
  size_t count = 0;
  auto& table = const_cast<Table&>(constant);  // is only read
  Batch batch(table, registry.memory());
  while (batch.next()) {
    for (const Batch::Item& item : batch) {
      const SlotContent now = item.slot->load();
      if (!meta::visible(now.meta)) continue;
      attrcache_attribute_info info = {};
      info.keyval = registry.number_of(meta::keyval(now.meta, item.index));
      info.value = static_cast<intptr_t>(now.value);
      info.tag = meta::tag(now.meta);
      if (count < infos.capacity() && meta::was_held(now.meta))
        info.holders = count_holders(registry.readers(), *item.slot, now.meta);
      info.deleting = meta::deleting(now.meta);
      infos.fill(count, info);
      ++count;
    }
  }
  return count;
}

}  // namespace attrcache
