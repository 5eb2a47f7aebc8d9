"""Campaigns: grids of runs on any executor, kept on disk, continued after an interruption."""

from paretoid.runs.campaign import Campaign, CampaignError
from paretoid.runs.dask_cluster import dask_executor
from paretoid.runs.reading import open_campaign

__all__ = ["Campaign", "CampaignError", "dask_executor", "open_campaign"]
