"""Keeping the linear algebra on one thread.

Its matrices are tall and narrow. A BLAS that splits them over threads spends more time waiting
than computing: on two cores a Jacobian with its QR takes twice as long as on one.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from threadpoolctl import ThreadpoolController


@cache
def _controller(*, with_scipy: bool) -> ThreadpoolController:
    """What is loaded now; SciPy brings a BLAS of its own."""
    return ThreadpoolController()


@contextmanager
def single_thread() -> Iterator[None]:
    """One thread for BLAS and LAPACK inside this block."""
    with _controller(with_scipy="scipy.linalg" in sys.modules).limit(limits=1, user_api="blas"):
        yield
