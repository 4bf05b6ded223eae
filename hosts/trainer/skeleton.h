/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page.html.in as a string; the build makes skeleton.c of it.
 */
#ifndef TRAINER_SKELETON_H
#define TRAINER_SKELETON_H

extern const char skeleton[];

#endif
