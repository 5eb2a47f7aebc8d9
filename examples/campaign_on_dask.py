# %% [markdown]
# # A campaign on Dask
#
# A campaign is a grid, instances x radii x deltas x goals x replications, declared once and run on
# any executor. Here on a Dask cluster of two processes on this machine; with the address of a
# scheduler in place of `LocalCluster()`, on as many machines as it has. The numbers are the same
# bit for bit: every replication draws from a stream of its own, wherever it runs.

# %%
import tempfile

import numpy as np

import paretoid as pt

# %% [markdown]
# How much does delta cost, and how much depends on the radius? Four random instances with
# five arms and two binary outcomes.

# %%
rng = np.random.default_rng(1)
bandits = {f"instance {i}": pt.BernoulliBandit(rng.uniform(size=(5, 2))) for i in range(4)}


def campaign(replications):
    return pt.Campaign(
        bandits,
        [pt.ParetoSet(eps1=0.2), pt.AtMost(2, eps1=0.2)],
        radii=[pt.Mixture(), pt.KaufmannKoolen()],
        deltas=[0.1, 0.001],
        replications=replications,
        seed=1,
    )


# %% [markdown]
# With a store every finished chunk is on disk at once. After Ctrl-C, a crash or a reboot the same
# call goes on where it was; asked for more replications, it computes only those.


# %%
def run_on_dask(store):
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        executor = client.get_executor(pure=False)
        campaign(4).run(store, executor=executor)
        return campaign(10).run(store, executor=executor)  # 6 more of each


# %% [markdown]
# The result is an `xarray.Dataset`, read from its files when needed; `pt.open_campaign(store)`
# opens it again in another session. Going from 90% to 99.9% certainty costs far less than a
# hundredfold: samples grow with log(1/delta).

# %%
if __name__ == "__main__":  # the cluster's processes import this file again
    print(campaign(10))
    with tempfile.TemporaryDirectory() as store:
        run_on_dask(store)
        runs = pt.open_campaign(store).load()
    mean = runs.stopping_time.mean(("instance", "replication"))
    for radius in mean.radius.values:
        for goal in mean.goal.values:
            often, rarely = mean.sel(radius=radius, goal=goal).sel(delta=[0.1, 0.001]).values
            print(f"{radius:52} {goal:24} {often:8,.0f} {rarely:8,.0f}  x{rarely / often:.2f}")
    print("wrong answers:", int((~runs.correct).sum()), "of", runs.correct.size)

    # The same on threads, in memory: nothing differs.
    here = campaign(10).run()
    print("as on threads:", bool((here.stopping_time == runs.stopping_time).all()))
