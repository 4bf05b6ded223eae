/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Version of the cplayout ABI.
 *
 * The major number is part of the exported symbol's name and changes only when old and new cannot
 * work together. The minor number grows when something is appended. Until release 1.0 nothing is
 * promised from one state to the next: the draft number names the state, and a host and a plugin
 * whose draft numbers differ refuse each other with a message.
 */
#ifndef CPLAYOUT_VERSION_H
#define CPLAYOUT_VERSION_H

#define CPLAYOUT_ABI_MAJOR 1
#define CPLAYOUT_ABI_MINOR 0
#define CPLAYOUT_ABI_DRAFT 1

/* Name of the one exported function; see cplayout_plugin_query_fn in core.h. */
#define CPLAYOUT_QUERY_SYMBOL "cplayout_plugin_query_v1"

#endif
