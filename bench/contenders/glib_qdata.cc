// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// GLib's object data: g_object_set_qdata and its kin. A key is a quark.

#include <glib-object.h>

#include <string>

#include "bench/harness/describe.h"

namespace {

struct GlibQdata {
  struct Object {
    GObject* object = static_cast<GObject*>(g_object_new(G_TYPE_OBJECT, nullptr));
    ~Object() { g_object_unref(object); }
  };
  using Handle = GObject*;
  using Key = GQuark;
  static constexpr bool kDearObjects = true;

  static Handle handle(Object& object) { return object.object; }
  static bool create_key(GQuark* key) {
    static int next = 0;
    *key = g_quark_from_string(("key " + std::to_string(next++)).c_str());
    return true;
  }
  static bool free_key(GQuark*) { return true; }  // GLib has no way to free a quark
  static bool get(GObject* object, GQuark key, void** value) {
    *value = g_object_get_qdata(object, key);
    return *value != nullptr;
  }
  static bool set(GObject* object, GQuark key, void* value) {
    g_object_set_qdata(object, key, value);
    return true;
  }
  static bool erase(GObject* object, GQuark key) { return set(object, key, nullptr); }
};

}  // namespace

bench::Contender bench::make_contender(int*, char**) {
  return describe<GlibQdata>("glib_qdata", {.keyvals = 10000, .objects = 100000});
}
