"""A live adaptive experiment: ask for arms, tell outcomes, keep a log that can be verified."""

from paretoid.explorer.design import Design
from paretoid.explorer.events import LedgerError
from paretoid.explorer.explorer import Allocation, Explorer
from paretoid.explorer.status import Status, Waiting

__all__ = ["Allocation", "Design", "Explorer", "LedgerError", "Status", "Waiting"]
