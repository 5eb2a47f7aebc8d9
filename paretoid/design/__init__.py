"""What is decided before the first outcome: how delta is shared out, and how the trial is run."""

from paretoid.design.informed import expected_counts, informed, with_counts

__all__ = ["expected_counts", "informed", "with_counts"]
