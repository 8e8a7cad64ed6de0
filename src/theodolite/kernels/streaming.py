"""Stores that go past the caches, for tables that are far larger than these.

An ordinary store first reads the line that it will overwrite, and drives others out of the caches.
Written this way a large regressor takes a third of the time.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

#: Tables of more bytes than this are not worth keeping in caches.
LARGE = 1 << 25


def _store(typing: Any, row: Any, place: Any, value: Any) -> Any:
    """``row[place] = value`` for a contiguous row of numbers, past the caches."""

    def store(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        proxy: Any = cgutils.create_struct_proxy(signature.args[0])
        array = proxy(context, builder, value=given[0])
        written = builder.store(given[2], builder.gep(array.data, [given[1]]))
        once = builder.module.add_metadata([ir.Constant(ir.IntType(32), 1)])
        written.set_metadata("nontemporal", once)
        return context.get_dummy_value()

    return types.void(row, types.intp, types.float64), store


#: ``stream(row, place, value)`` in compiled code.
stream: Any = intrinsic(_store)
