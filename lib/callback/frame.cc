// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "callback/frame.h"

namespace attrcache {

void index_frames(Frame* frame) {
  Frame* next = nullptr;  // the frame inside of `frame`, and so on, by below[0]
  while (frame != nullptr && frame->indexed.at == nullptr) {
    frame->indexed.below[0] = next;
    next = frame;
    frame = frame->outer;
  }
  Frame* root = frame != nullptr ? frame->indexed.root : next;
  while (next != nullptr) {
    frame = next;
    Indexed& its = frame->indexed;
    next = its.below[0];
    its.below[0] = its.below[1] = nullptr;
    its.at = &its.root;  // it is the root itself
    if (frame != root) {
      uint64_t path = path_to(frame->table);
      for (Frame* above = root; above != nullptr; path = path << 1 | path >> 63) {
        its.at = &above->indexed.below[path >> 63];
        above = *its.at;
      }
      *its.at = frame;
    }
    its.root = root;
  }
}

}  // namespace attrcache
