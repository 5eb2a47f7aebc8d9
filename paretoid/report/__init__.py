"""Reports as one HTML file each: no network, figures inline, tables that sort, printable."""

from paretoid.report.campaign import campaign_report
from paretoid.report.plan import plan_report
from paretoid.report.plan_files import write_plan
from paretoid.report.stored import read_store
from paretoid.report.trial import trial_report

__all__ = ["campaign_report", "plan_report", "read_store", "trial_report", "write_plan"]
