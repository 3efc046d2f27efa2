"""Cards of ratings and panels: users by items, models by questions or data sets."""

from __future__ import annotations

from functools import partial

from .cards import RESEARCH_ONLY, Card, PublishedFile
from .formats import read_movielens

__all__ = ["PANELS"]

PANELS = (
    Card(
        name="movielens_100k",
        title="MovieLens 100k",
        origin="Ratings that visitors of movielens.org gave, September 1997 to April 1998; by GroupLens, Minnesota.",
        rows="users",
        columns="movies",
        values="the rating, 1 to 5; what is not listed is unknown",
        kind="ratings",
        shape=(943, 1_682),
        nnz=100_000,
        total=352_986,
        licence="for research only; may not be passed on without permission of GroupLens",
        citation=(
            "F. M. Harper and J. A. Konstan. The MovieLens datasets: history and context. ACM Transactions on "
            "Interactive Intelligent Systems 5(4), article 19, 2015."
        ),
        published="https://grouplens.org/datasets/movielens/100k/",
        files=(
            PublishedFile(
                "ml-100k/u.data",
                "https://files.grouplens.org/datasets/movielens/ml-100k.zip",
                "sha256:50d2a982c66986937beb9ffb3aa76efe955bf3d5c6b761f4e3a7cd717c6a3229",
            ),
        ),
        parse=partial(read_movielens, shape=(943, 1_682)),
        compact="movielens_100k.npz",
        notes=(
            "A movie without a rating is one that was not rated, not one that was rated zero. Users are rows, as "
            "published, although there are fewer of them than movies."
        ),
    ),
    Card(
        name="jester5k",
        title="Jester5k",
        origin="Ratings of jokes by visitors of Jester (Goldberg et al.); the sample of the R package recommenderlab.",
        rows="users",
        columns="jokes",
        values="the rating, -10 to 10; what is not listed is unknown",
        kind="ratings",
        shape=(5_000, 100),
        nnz=363_209,
        total=332_665.9,
        licence="GPL 2, as the package recommenderlab",
        citation=(
            "K. Goldberg, T. Roeder, D. Gupta and C. Perkins. Eigentaste: a constant time collaborative filtering "
            "algorithm. Information Retrieval 4(2), pages 133-151, 2001."
        ),
        published="https://github.com/mhahsler/recommenderlab",
        compact="jester5k.npz",
        notes="5,000 users with at least 36 ratings each. A rating may be zero.",
    ),
    Card(
        name="flixster",
        title="Flixster",
        origin="Ratings of movies by members of Flixster (Jamali, Ester); the subset of Monti, Bronstein and Bresson.",
        rows="users",
        columns="movies",
        values="the rating, 0.5 to 5 in steps of a half; what is not listed is unknown",
        kind="ratings",
        shape=(3_000, 3_000),
        nnz=26_173,
        total=98_469.5,
        licence=RESEARCH_ONLY,
        citation=(
            "M. Jamali and M. Ester. A matrix factorization technique with trust propagation for recommendation in "
            "social networks. RecSys 2010, pages 135-142; and F. Monti, M. M. Bronstein and X. Bresson. Geometric "
            "matrix completion with recurrent multi-graph neural networks. NIPS 2017."
        ),
        published="https://github.com/fmonti/mgcnn",
        compact="flixster.npz",
        notes="Ratings for training and for testing together.",
    ),
    Card(
        name="llm_answers",
        title="Answers of language models",
        origin=(
            "Which of 448 language models answered which of the 541 questions of IFEval, as published by Zhang, "
            "Dorner and Hardt."
        ),
        rows="models",
        columns="questions",
        values="1 if the answer is right, 0 if it is wrong",
        shape=(448, 541),
        nnz=80_761,
        total=80_761,
        licence="MIT",
        citation=(
            "G. Zhang, F. E. Dorner and M. Hardt. How benchmark prediction from fewer data misses the mark. NeurIPS "
            "2025, arXiv:2506.07673."
        ),
        published="https://github.com/socialfoundations/benchmark-prediction",
        compact="llm_answers.npz",
        is_shipped=True,
        notes="Models are the rows, although there are fewer of them. They are numbered, in the order of the source.",
    ),
    Card(
        name="oboe_errors",
        title="Errors of OBOE",
        origin="Errors of 219 models (algorithms with hyperparameters) on 418 data sets of OpenML, made for OBOE.",
        rows="data sets",
        columns="models",
        values="the balanced error of the model on the data set",
        shape=(418, 219),
        nnz=89_507,
        total=23480.610578219086,
        licence="BSD-3-Clause",
        citation=(
            "C. Yang, Y. Akimoto, D. W. Kim and M. Udell. OBOE: collaborative filtering for AutoML model selection. "
            "KDD 2019, pages 1173-1183."
        ),
        published="https://github.com/udellgroup/oboe",
        compact="oboe_errors.npz",
        is_shipped=True,
        notes="Complete. Hardly any entry is zero: the matrix is a NumPy array.",
    ),
)
