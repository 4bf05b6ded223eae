/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proves, by being compiled, that struct cplayout_tensor has the memory layout of DLTensor and that
 * our constants are DLPack's, so that a host may pass the address of one for the other. What it
 * prints only tells that it was compiled.
 */
#include <stddef.h>
#include <stdio.h>

#include <cplayout/tensor.h>
#include <dlpack/dlpack.h>

/* Members `ours` and `theirs` lie at the same place and are equally large. */
#define SAME(our_type, ours, their_type, theirs)                                              \
    _Static_assert(offsetof(struct our_type, ours) == offsetof(their_type, theirs),           \
                   #our_type "." #ours " lies elsewhere");                                    \
    _Static_assert(sizeof(((struct our_type *)0)->ours) == sizeof(((their_type *)0)->theirs), \
                   #our_type "." #ours " has another size")

SAME(cplayout_tensor, data, DLTensor, data);
SAME(cplayout_tensor, device, DLTensor, device);
SAME(cplayout_tensor, ndim, DLTensor, ndim);
SAME(cplayout_tensor, dtype, DLTensor, dtype);
SAME(cplayout_tensor, shape, DLTensor, shape);
SAME(cplayout_tensor, strides, DLTensor, strides);
SAME(cplayout_tensor, byte_offset, DLTensor, byte_offset);
SAME(cplayout_device, device_type, DLDevice, device_type);
SAME(cplayout_device, device_id, DLDevice, device_id);
SAME(cplayout_type, code, DLDataType, code);
SAME(cplayout_type, bits, DLDataType, bits);
SAME(cplayout_type, lanes, DLDataType, lanes);

_Static_assert(sizeof(struct cplayout_tensor) == sizeof(DLTensor), "size of a tensor");
_Static_assert(sizeof(struct cplayout_tensor) == 48, "DLTensor has 48 bytes on 64-bit machines");
_Static_assert(_Alignof(struct cplayout_tensor) == _Alignof(DLTensor), "alignment of a tensor");
_Static_assert(sizeof(struct cplayout_device) == sizeof(DLDevice), "size of a device");
_Static_assert(sizeof(struct cplayout_type) == sizeof(DLDataType), "size of a type");

_Static_assert((int)CPLAYOUT_DEVICE_CPU == (int)kDLCPU, "CPU");
_Static_assert((int)CPLAYOUT_TYPE_INT == (int)kDLInt, "signed integer");
_Static_assert((int)CPLAYOUT_TYPE_UINT == (int)kDLUInt, "unsigned integer");
_Static_assert((int)CPLAYOUT_TYPE_FLOAT == (int)kDLFloat, "floating point");
_Static_assert((int)CPLAYOUT_TYPE_BFLOAT == (int)kDLBfloat, "bfloat16");
#if defined(DLPACK_MAJOR_VERSION) || DLPACK_VERSION >= 80
_Static_assert((int)CPLAYOUT_TYPE_BOOL == (int)kDLBool, "boolean");
#endif

int main(void)
{
    (void)puts("ok 1 - a tensor is a DLTensor");
    (void)puts("1..1");
    return 0;
}
