// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "mpi/native/python.h"

#include <cstring>
#include <string>

#include "mpi/native/native.h"

namespace attrcache::mpi {
namespace {

using PyObject = void;  // Python's own type

// Functions of Python's from 3.5 on. Null where there is no Python.
struct Python {
  PyObject* (*own_state)() = find("PyGILState_GetThisThreadState");
  PyObject* (*running_state)() = find("PyThreadState_GetUnchecked", "_PyThreadState_UncheckedGet");
  PyObject* (*frame)() = find("PyEval_GetFrame");
  PyObject* (*error)() = find("PyErr_Occurred");
  void (*clear_error)() = find("PyErr_Clear");
  int (*line)(PyObject*) = find("PyFrame_GetLineNumber");
  PyObject* (*attribute)(PyObject*, const char*) = find("PyObject_GetAttrString");
  const char* (*text)(PyObject*) = find("PyUnicode_AsUTF8");
  void (*release)(PyObject*) = find("Py_DecRef");

  struct Found {
    void* symbol;
    template <typename Function>
    operator Function*() const {  // NOLINT: by design, so that each member has its type once
      return reinterpret_cast<Function*>(symbol);
    }
  };
  // `before_3_13`: another name that it had.
  static Found find(const char* name, const char* before_3_13 = nullptr) {
    void* const symbol = find_symbol(name);
    return {symbol == nullptr && before_3_13 != nullptr ? find_symbol(before_3_13) : symbol};
  }

  bool is_there() const {
    return own_state != nullptr && running_state != nullptr && frame != nullptr &&
           error != nullptr && clear_error != nullptr && line != nullptr && attribute != nullptr &&
           text != nullptr && release != nullptr;
  }

  // The text in an attribute of an object; empty if there is none.
  std::string text_of(PyObject* of, const char* name) const {
    PyObject* const found = attribute(of, name);
    const char* const read = found != nullptr ? text(found) : nullptr;
    std::string copy = read != nullptr ? read : "";
    if (read == nullptr) clear_error();
    if (found != nullptr) release(found);
    return copy;
  }
};

}  // namespace

const Module* python_code(const Module* caller) {
  if (caller == nullptr || !caller->is_python) return nullptr;
  static const Python python;
  if (!python.is_there()) return nullptr;
  // Only the thread that holds the lock may ask for more than this.
  PyObject* const state = python.own_state();
  if (state == nullptr || state != python.running_state() || python.error() != nullptr)
    return nullptr;
  PyObject* const frame = python.frame();
  PyObject* const code = frame != nullptr ? python.attribute(frame, "f_code") : nullptr;
  if (code == nullptr) {
    python.clear_error();
    return nullptr;
  }
  std::string file = python.text_of(code, "co_filename");
  file.erase(0, file.rfind('/') + 1);
  std::string function = python.text_of(code, "co_qualname");  // from 3.11 on
  if (function.empty()) function = python.text_of(code, "co_name");
  python.release(code);
  return module_named(file + ": " + function + " (" + file + ":" +
                      std::to_string(python.line(frame)) + ")");
}

}  // namespace attrcache::mpi
