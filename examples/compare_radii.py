"""What a guarantee costs: the same experiment with every radius, on the COV-BOOST instance.

Streams are paired (replication r sees the same noise under every radius), so differences are
sharper than the averages suggest.
"""

import paretoid as pt

bandit = pt.load_instance("covboost")
radii = [
    pt.Mixture(rho=100.0),
    pt.Mixture(rho=100.0, union="pairs"),
    pt.UnknownScale(rho=100.0),
    pt.KaufmannKoolen(),
    pt.KaufmannKoolen("approximate", union="none"),
]
print(f"{'radius':60} {'guarantee':10} {'k=1':>8} {'k=2':>8} {'wrong':>6}")
for radius in radii:
    runs = pt.simulate(
        bandit, [pt.AtMost(1), pt.AtMost(2)], radius=radius, delta=0.1, replications=100, seed=1
    )
    one, two = runs.stopping_time.mean("replication").values
    wrong = int((~runs.correct).sum())
    print(f"{radius!r:60} {runs.attrs['guarantee']:10} {one:8,.0f} {two:8,.0f} {wrong:6}")
