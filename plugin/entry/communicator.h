/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A host's communicator as the host transport sees it.
 */
#ifndef CPL_ENTRY_COMMUNICATOR_H
#define CPL_ENTRY_COMMUNICATOR_H

#include <cplayout/communicator.h>

#include "move/host.h"

/*
 * Checks the record, which must outlive the calls. Errors: ARGUMENT (size, a function is missing).
 */
enum cpl_status cpl_communicator_in(const struct cplayout_communicator *communicator,
                                    struct cpl_host_calls *calls, struct cpl_error *error);

#endif
