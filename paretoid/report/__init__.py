"""Reports as one HTML file each: no network, figures inline, tables that sort, printable."""

from paretoid.report.plan import plan_report

__all__ = ["plan_report"]
