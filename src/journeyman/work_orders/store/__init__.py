"""Work orders in the database: a file for each noun, all over the transactions of `transactions.py`."""

from journeyman.work_orders.changes import DecidedChange, OrderChanges, check_unmoved, time_worked
from journeyman.work_orders.store.filters import OrderFilter, Sort
from journeyman.work_orders.store.orders import WorkOrders
from journeyman.work_orders.store.rows import order_of
from journeyman.work_orders.store.transactions import Writing

__all__ = [
    "DecidedChange",
    "OrderChanges",
    "OrderFilter",
    "Sort",
    "WorkOrders",
    "Writing",
    "check_unmoved",
    "order_of",
    "time_worked",
]
