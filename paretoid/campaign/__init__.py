"""Campaigns: grids of runs on any executor, kept on disk, continued after an interruption."""

from paretoid.campaign.campaign import Campaign, CampaignError
from paretoid.campaign.cluster import dask_executor
from paretoid.campaign.reading import open_campaign

__all__ = ["Campaign", "CampaignError", "dask_executor", "open_campaign"]
