"""Workers on other processes and machines: the same computations, the same numbers.

Start with `ordered_run`: it sends tasks to workers and returns their results in order. `tasks` is what runs
on a worker. `process_pool` and `dask_pool` are the two kinds of workers; `local_workers` starts Dask workers
on this machine, `scheduler` connects to a scheduler, and `on_client` gives public functions their parameter
`client`. Only `dask_pool`, `local_workers` and `scheduler` import Dask, when they are called.
"""
