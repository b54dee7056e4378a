"""A batch on Dask: a lazy table in, a lazy table out.

Nothing is planned before somebody asks. On a cluster the parts go to the workers; files past memory are `p2c batch --cluster`.
"""

import dask
import dask.dataframe as dd

import p2c

dask.config.set(scheduler="synchronous")
problem = p2c.Problem.example("adult")
people = p2c.datasets.load_frame("adult")[list(problem.to_dict()["features"])]
lazy = problem.plan_many(dd.from_pandas(people, npartitions=8), details=False)
print(type(lazy).__name__, list(lazy.columns[:3]))
print(lazy["status"].compute().value_counts().to_dict())
