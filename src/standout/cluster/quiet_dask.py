"""Import Dask if it is installed, and keep its logs and warnings from the terminal."""

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

from standout.core.errors import ParameterError
from standout.core.extras import install_command

__all__ = ["import_distributed", "quiet"]

LOGGERS = ("distributed", "tornado", "asyncio")


def import_distributed() -> ModuleType:
    """The package distributed."""
    try:
        import cryptography  # noqa: F401  for certificates of local workers
        import distributed
    except ImportError:
        raise ParameterError(f"workers need Dask: {install_command('cluster')}") from None
    module: ModuleType = distributed
    return module


@contextmanager
def quiet(debug: bool) -> Iterator[None]:
    """Silence Dask within the context, unless for debugging. Its log may have addresses and paths."""
    if debug:
        yield
        return
    loggers = [logging.getLogger(name) for name in LOGGERS]
    loggers += [
        logging.getLogger(name) for name in logging.root.manager.loggerDict if name.startswith(LOGGERS)
    ]
    before = [logger.disabled for logger in loggers]
    for logger in loggers:
        logger.disabled = True
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", module=r"distributed\b.*")
            yield
    finally:
        for logger, was_disabled in zip(loggers, before, strict=True):
            logger.disabled = was_disabled
