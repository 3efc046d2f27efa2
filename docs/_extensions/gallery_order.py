"""The order of the gallery: the one in which a newcomer would want to read it."""

ORDER = (
    "plot_less_read.py",
    "plot_best_models.py",
    "plot_photograph.py",
    "plot_choosing_samples.py",
    "plot_documents.py",
    "plot_exact_recovery.py",
    "plot_solvers.py",
)


def story(filename):
    return ORDER.index(filename) if filename in ORDER else len(ORDER)
