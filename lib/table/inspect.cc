// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "table/inspect.h"

#include "table/batch.h"
#include "table/meta.h"

namespace attrcache {
namespace {

// Inlined, because a call for each keyval would cost as much as the description.
[[gnu::always_inline]] inline void describe(int number, uint64_t word, bool predefined,
                                            const Record& record, const References& references,
                                            attrcache_keyval_info* info) {
  info->keyval = number;
  info->freed = (word & entry_word::kFreed) != 0;
  info->predefined = predefined;
  info->callbacks = record.callbacks.functions;
  info->attributes = references.count();
}

// The same of a definition, whose values are perhaps in no table.
void describe(const Registry& registry, int number, const Definition& definition,
              attrcache_keyval_info* info) {
  *info = {};
  info->keyval = number;
  info->predefined = 1;
  if (definition.where != ATTRCACHE_PER_OBJECT) return;
  if (definition.copied_by_dup) info->callbacks.copy_fn = ATTRCACHE_DUP_FN;
  info->attributes = registry.count_references(definition.keyval.load(kRelaxed));
}

}  // namespace

size_t list_keyvals(Registry& registry, attrcache_keyval_info* infos, size_t capacity) {
  attrcache_keyval_info* next = infos;
  const attrcache_keyval_info* const end = infos + capacity;
  size_t beyond = 0;  // how many there is no room for
  const uint32_t mask = registry.settings().mask;
  const auto list = [&](uint64_t word, bool predefined, const Record& record,
                        const References& references) __attribute__((always_inline)) {
    if (next == end) [[unlikely]] {
      ++beyond;
      return;
    }
    const auto number = static_cast<int>(static_cast<uint32_t>(word) ^ mask);
    describe(number, word, predefined, record, references, next++);
  };
  // Ordinary ones apart, because most are.
  registry.for_each([&](uint64_t word, const Record& record, const References& references) {
    if ((word & entry_word::kOrdinary) != 0) [[likely]] {
      list(word, false, record, references);
    } else if ((word & entry_word::kDefined) == 0) {  // else below
      list(word, true, record, references);
    }
  });
  size_t count = static_cast<size_t>(next - infos) + beyond;
  registry.definitions().for_each([&](int number, const Definition& definition) {
    if (count < capacity) describe(registry, number, definition, &infos[count]);
    ++count;
  });
  return count;
}

int describe_keyval(Registry& registry, int number, attrcache_keyval_info* info) {
  const uint32_t keyval = registry.keyval_of(number);
  if (const Definition* definition = registry.definitions().find(number)) {
    describe(registry, number, *definition, info);
    return ATTRCACHE_OK;
  }
  bool found = false;
  registry.visit(keyval, [&](uint64_t word, const Record& record, const References& references) {
    if ((word & entry_word::kDefined) != 0) return;  // known by its number only
    const bool predefined = (word & entry_word::kOrdinary) == 0;
    describe(number, word, predefined, record, references, info);
    found = true;
  });
  return found ? ATTRCACHE_OK : registry.why_not(keyval);
}

size_t list_attributes(const Registry& registry, const Table& constant,
                       attrcache_attribute_info* infos, size_t capacity) {
  size_t count = 0;
  auto& table = const_cast<Table&>(constant);  // is only read
  // By what number users know the keyval of what a slot holds; false: by none.
  const auto has_number = [&registry](uint64_t m, uint32_t index, int* number) {
    const uint32_t keyval = meta::keyval(m, index);
    *number = registry.number_of(keyval);
    const uint64_t word = registry.is_kind_of(keyval) ? registry.look_up(keyval) : 0;
    return word == 0 || registry.has_number(word, number);
  };
  if (capacity == 0) {
    table.for_each([&](uint32_t index, const Pair& slot) {
      const uint64_t m = slot.load_meta();
      int ignored;
      count += meta::visible(m) && has_number(m, index, &ignored);
    });
    return count;
  }
  Batch batch(table, Batch::Order::kOldestFirst, &registry.memory());
  while (batch.next()) {
    for (unsigned i = 0; i < batch.count(); ++i) {
      const Batch::Item& item = batch[i];
      const SlotContent now = item.slot->load();
      int number;
      if (!meta::visible(now.meta) || !has_number(now.meta, item.index, &number)) continue;
      if (count < capacity) {
        infos[count] = {
            .keyval = number,
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
