// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "tests/model/explorer/moment.h"

#include "tests/model/explorer/engine.h"

namespace attrcache::model {

Moment now() {
  Moment moment = {engine().current(), {}};
  for (unsigned t = 0; t < kMaxThreads; ++t) moment.knows[t] = engine().view().at[t];
  return moment;
}

}  // namespace attrcache::model
