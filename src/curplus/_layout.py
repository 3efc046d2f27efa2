"""The version, the subpackages in the order in which they may import each other, and the home of every public name.

The test of the layers, the table in CONTRIBUTING and the reference are made from this list.
"""

__all__ = ["PUBLIC_NAMES", "SHARED_MODULES", "SUBPACKAGES", "__version__"]

__version__ = "0.1.0"  # the only place: pyproject.toml reads it here, and a test compares CITATION.cff

#: Modules that serve all the others, in the order in which they may import each other.
SHARED_MODULES = (
    "_layout",
    "exceptions",
    "_typing",
    "_support",
    "_dask",
    "_numbers",
    "_arrays",
    "_validation",
    "_files",
)

#: A subpackage may import only from those before it, and from the modules that serve them all.
SUBPACKAGES = {
    "sources": "where a matrix comes from",
    "observation": "what was read, and where",
    "factorization": "the approximation, and how it was made",
    "evaluation": "how good it is",
    "solvers": "finding the core",
    "methods": "from an observation to an approximation",
    "acquisition": "choosing what to read next",
    "theory": "what is guaranteed",
    "estimators": "the library for scikit-learn",
    "plotting": "pictures",
    "study": "buying a matrix in pieces",
    "datasets": "real and synthetic matrices",
    "paper": "the paper, reproduced",
    "cli": "the command line",
}

#: Public names of the package, each with the module that has it; a name without one is a module itself.
PUBLIC_NAMES = {
    "Best": "evaluation",
    "CallableSource": "sources",
    "Certificate": "evaluation",
    "Costs": "acquisition",
    "EntryIntervals": "evaluation",
    "Factorization": "factorization",
    "MeanEstimates": "evaluation",
    "Observation": "observation",
    "SamplePlan": "observation",
    "Source": "sources",
    "Study": "study",
    "acquire": "acquisition",
    "approximate": "methods",
    "as_source": "sources",
    "backtest": "acquisition",
    "certify": "evaluation",
    "cur_full": "methods",
    "cur_plus": "methods",
    "cur_unbiased": "methods",
    "decide": "evaluation",
    "estimate_means": "evaluation",
    "load": "methods",
    "metrics": "evaluation",
    "observe": "observation",
    "open_source": "sources",
    "predict_interval": "evaluation",
    "propose": "acquisition",
    "read": "observation",
    "select_columns": "acquisition",
    **dict.fromkeys((*(name for name in SUBPACKAGES if name != "cli"), "exceptions"), ""),
}
