#!/usr/bin/env python3
# Makes made_two_entries.h5 or, with "default" as the second argument, made_default.h5 of data/strangers/saxs:
# NXcanSAS of two made curves, with libhdf5 alone (by ctypes).
import ctypes
import math
import sys
from ctypes import POINTER, byref, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint, c_uint64

H5 = ctypes.CDLL("libhdf5_serial.so")
for name in ("H5Fcreate", "H5Gcreate2", "H5Screate", "H5Screate_simple", "H5Tcopy", "H5Dcreate2", "H5Acreate2"):
    getattr(H5, name).restype = c_int64
H5.H5open()
DOUBLE, TEXT = (c_int64.in_dll(H5, name).value for name in ("H5T_IEEE_F64LE_g", "H5T_C_S1_g"))


def attribute(where, name, text):
    kind = H5.H5Tcopy(c_int64(TEXT))
    H5.H5Tset_size(c_int64(kind), c_size_t(len(text)))
    made = H5.H5Acreate2(c_int64(where), name.encode(), c_int64(kind), c_int64(H5.H5Screate(c_int(0))), c_int64(0),
                         c_int64(0))
    H5.H5Awrite(c_int64(made), c_int64(kind), c_char_p(text.encode()))


def group(where, name, kind):
    made = H5.H5Gcreate2(c_int64(where), name.encode(), c_int64(0), c_int64(0), c_int64(0))
    attribute(made, "canSAS_class", kind)
    return made


def values(where, name, numbers, **attributes):
    space = H5.H5Screate_simple(c_int(1), byref(c_uint64(len(numbers))), POINTER(c_uint64)())
    made = H5.H5Dcreate2(c_int64(where), name.encode(), c_int64(DOUBLE), c_int64(space), c_int64(0), c_int64(0),
                         c_int64(0))
    H5.H5Dwrite(c_int64(made), c_int64(DOUBLE), c_int64(0), c_int64(0), c_int64(0), (c_double * len(numbers))(*numbers))
    for key, text in attributes.items():
        attribute(made, key, text)


file = H5.H5Fcreate(sys.argv[1].encode(), c_uint(2), c_int64(0), c_int64(0))
q = [0.01 + 0.29 * k / 39 for k in range(40)]
intensity = [10 * math.exp(-14 * 14 * x * x / 3) + 0.1 for x in q]
one = group(group(file, "one", "SASentry"), "data", "SASdata")
values(one, "Q", [10 * x for x in q][::-1], units="1/nm")
values(one, "I", intensity[::-1], units="1/cm", uncertainties="Idev")
values(one, "Idev", [0.02 * y for y in intensity][::-1])
entry = group(file, "two", "SASentry")
if "default" in sys.argv[2:]:
    attribute(file, "default", "two")
    attribute(entry, "default", "data")
    again = group(entry, "again", "SASdata")
    values(again, "Q", [10 * x for x in q], units="1/nm")
    values(again, "I", intensity)
two = group(entry, "data", "SASdata")
values(two, "Q", q)
values(two, "I", intensity, uncertainties="Idev")
H5.H5close()
