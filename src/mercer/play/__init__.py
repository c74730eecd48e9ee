"""Kernels one can touch: a page on this machine whose pictures are computed while a slider moves (``mercer play``).

Here live what a state of the page is, what is computed of it, how work that is out of date is dropped, and the server.
Nothing here knows a formula or a solver: a mode fits the library's own estimators, as a user would, and says in Python
what it did. Starlette and uvicorn are imported by ``server`` and ``program`` alone. What the page looks like is in
``page/``: modules of JavaScript without anything to build or to fetch.
"""
