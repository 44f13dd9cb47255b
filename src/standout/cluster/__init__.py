"""Workers on other processes and machines: the same computations, the same numbers.

`workers` sends tasks and returns their results in order; `dask_workers` starts Dask workers or connects to theirs.
"""
