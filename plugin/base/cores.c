/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cores.h"

#include <sched.h>
#include <unistd.h>

int32_t cpl_cores(void)
{
    cpu_set_t set;

    if (sched_getaffinity(0, sizeof(set), &set) == 0) {
        return (int32_t)CPU_COUNT(&set);
    }
    return (int32_t)sysconf(_SC_NPROCESSORS_ONLN); /* more cores than the set has bits */
}
