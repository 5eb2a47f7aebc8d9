"""Published trials that ship with the package, each with its citation and provenance."""

from __future__ import annotations

from dataclasses import replace

from paretoid.estimation.summary import TrialSummary, summary_of
from paretoid.tables import read_bundled
from paretoid.text import meant

TRIALS = {
    "covboost-groupB": "COV-BOOST, boosters of group B: 8 arms x 3 endpoints, complete",
    "covboost": "COV-BOOST: 20 arms x 3 endpoints; n and intervals for 8 arms x 2 of them",
    "comcov2": "Com-COV2, second doses: 6 arms x 3 endpoints, complete",
}

_COVBOOST = (
    "Munro et al., Safety and immunogenicity of seven COVID-19 vaccines as a third dose "
    "(COV-BOOST), Lancet 2021; 398: 2258-76 (PMC8639161)"
)
_COMCOV2 = (
    "Stuart et al., Immunogenicity, safety, and reactogenicity of heterologous COVID-19 primary "
    "vaccination (Com-COV2), Lancet 2022; 399: 36-49 (PMC8648333)"
)
_FACTS = (
    "Numbers transcribed from tables at PubMed Central (facts, no text copied); see column source."
)

#: the paper's pooled variance of log T-cell responses [kone2023, appendix, pooled variances]
T_CELL_VARIANCE = 1.53743137

_NAMES = {
    "anti-spike IgG": "IgG",
    "pseudotype virus neutralising antibody NT50 (wild-type)": "NT50 wild-type",
    "pseudotype virus neutralising antibody NT50 (delta)": "NT50 delta",
    "cellular response (wild-type) T-cell ELISpot": "T cell",
}


def load_trial(name: str, *, assumed_n: int | None = None) -> TrialSummary:
    """A bundled trial by name; see `TRIALS`.

    "covboost" reports n for 16 of its 60 cells: a model of it needs `assumed_n`. Its T-cell
    variance is the paper's pooled value, in `assumptions`.

    >>> load_trial("comcov2")
    TrialSummary(6 arms x 3 endpoints)
    """
    if name not in TRIALS:
        hint = meant(str(name), TRIALS)
        raise ValueError(f"no trial {name!r}{hint} There are: {', '.join(TRIALS)}.")
    if name == "comcov2":
        trial = summary_of(
            [read_bundled("comcov2_day28.csv")],
            name,
            endpoints={
                "anti-spike IgG (modified intention-to-treat)": "IgG",
                "pseudotype virus neutralising antibody NT50": "NT50",
                "live virus neutralising antibody (Victoria) FRNT50": "FRNT50",
            },
            assumed_n=assumed_n,
        )
        return replace(trial, readings=(), citation=_COMCOV2, provenance=_FACTS)
    means = read_bundled("covboost_day28.csv")
    if name == "covboost":
        trial = summary_of(
            [means],
            name,
            endpoints={e: s for e, s in _NAMES.items() if s != "NT50 delta"},
            assumed_n=assumed_n,
            assumed_variance={"T cell": T_CELL_VARIANCE},
        )
        derived = " Rows marked derived: log means in public code of the authors of [kone2023]."
        return replace(trial, readings=(), citation=_COVBOOST, provenance=_FACTS + derived)
    delta = read_bundled("covboost_groupB_delta_day28.csv")
    trial = summary_of(
        [means, delta],
        name,
        endpoints={e: s for e, s in _NAMES.items() if s != "T cell"},
        assumed_n=assumed_n,
        keep=[f"{p} + {b}" for p in ("ChAd/ChAd", "BNT/BNT")
              for b in ("BNT", "VLA", "VLA half", "Ad26")],
    )  # fmt: skip
    return replace(trial, readings=(), citation=_COVBOOST, provenance=_FACTS)
