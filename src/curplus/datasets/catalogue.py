"""All data sets: one table, a card in each row. To add a data set is to add a row.

A card names the parser of its published files; the parsers stand in :mod:`curplus.datasets.formats`.
"""

from __future__ import annotations

from functools import partial

from ..exceptions import InvalidArgumentError
from .cards import Card, PublishedFile
from .formats.bag_of_words import read_bag_of_words
from .formats.idx import read_idx_images
from .formats.libsvm import read_libsvm
from .formats.matlab import read_matlab
from .formats.movielens import read_movielens
from .formats.nips2003 import read_dense_rows, read_sparse_rows

__all__ = ["CARDS", "find_card"]

BAG_OF_WORDS = "https://archive.ics.uci.edu/ml/machine-learning-databases/bag-of-words"
DEXTER = "https://archive.ics.uci.edu/static/public/168/dexter.zip"
GISETTE = "https://archive.ics.uci.edu/static/public/170/gisette.zip"
SCIKIT_FEATURE = "https://github.com/jundongl/scikit-feature"

CHALLENGE = (
    "I. Guyon, S. Gunn, A. Ben-Hur and G. Dror. Result analysis of the NIPS 2003 feature selection challenge. "
    "Advances in Neural Information Processing Systems 17, 2005."
)
NEWMAN = "D. Newman. Bag of Words. UCI Machine Learning Repository, 2008."
SELECTION = (
    "J. Li, K. Cheng, S. Wang, F. Morstatter, R. P. Trevino, J. Tang and H. Liu. Feature selection: a data "
    "perspective. ACM Computing Surveys 50(6), article 94, 2017."
)
RESEARCH_ONLY = "none stated; for research only, do not pass it on"

TABLE = (
    Card(
        name="enron",
        title="Enron emails",
        origin="Messages of the Enron corpus as bags of words, without stop words and rare words; by D. Newman, UCI.",
        rows="documents",
        columns="words",
        values="how often the word occurs in the document",
        shape=(39_861, 28_102),
        nnz=3_710_420,
        licence="CC BY 4.0",
        citation=NEWMAN,
        published="https://archive.ics.uci.edu/dataset/164/bag+of+words",
        files=(PublishedFile("docword.enron.txt.gz", f"{BAG_OF_WORDS}/docword.enron.txt.gz", n_rows=39_861),),
        parse=read_bag_of_words,
        compact="enron.npz",
        notes="One of the paper's four matrices (Section 4.2). About 12 MB to download.",
    ),
    Card(
        name="dexter",
        title="Dexter",
        origin="Reuters articles for the NIPS 2003 feature selection challenge, about half of the terms made up.",
        rows="terms",
        columns="documents",
        values="scaled frequency of the term in the document, 1 to 999",
        shape=(20_000, 2_600),
        nnz=248_616,
        total=24_764_775,
        licence="CC BY 4.0",
        citation=CHALLENGE,
        published="https://archive.ics.uci.edu/dataset/168/dexter",
        files=(
            PublishedFile("DEXTER/dexter_train.data", DEXTER, n_rows=300, total=2_816_528),
            PublishedFile("DEXTER/dexter_valid.data", DEXTER, n_rows=300, total=2_820_952),
            PublishedFile("DEXTER/dexter_test.data", DEXTER, n_rows=2_000, total=19_127_295),
        ),
        parse=partial(read_sparse_rows, n_features=20_000),
        compact="dexter.npz",
        notes=(
            "One of the paper's four matrices (Section 4.2). Columns are the 300 training, 300 validation and 2,000 "
            "test documents, in this order. Each part is compared with the check-sum of the challenge."
        ),
    ),
    Card(
        name="farm_ads",
        title="Farm Ads",
        origin="Ads from twelve web sites about farm animals, with the pages they lead to; by Mesterharm and Pazzani.",
        rows="terms",
        columns="ads",
        values="1 where the term occurs in the ad",
        shape=(54_877, 4_143),
        nnz=817_141,
        total=817_141,
        licence="CC BY 4.0",
        citation="C. Mesterharm and M. J. Pazzani. Active learning using on-line algorithms. KDD 2011, pages 850-858.",
        published="https://archive.ics.uci.edu/dataset/218/farm+ads",
        files=(
            PublishedFile("farm-ads-vect", "https://archive.ics.uci.edu/static/public/218/farm+ads.zip", n_rows=4_143),
        ),
        parse=partial(read_libsvm, n_features=54_877),
        compact="farm_ads.npz",
        notes="One of the paper's four matrices (Section 4.2). The labels of the ads are left out.",
    ),
    Card(
        name="gisette",
        title="Gisette",
        origin="Digits 4 and 9 of MNIST for the NIPS 2003 feature selection challenge: pixels, their products, probes.",
        rows="images",
        columns="features",
        values="a feature of the image, 0 to 999",
        shape=(13_500, 5_000),
        nnz=None,
        total=7_131_157_186,
        licence="CC BY 4.0",
        citation=CHALLENGE,
        published="https://archive.ics.uci.edu/dataset/170/gisette",
        files=(
            PublishedFile("GISETTE/gisette_train.data", GISETTE, n_rows=6_000, total=3_164_568_508),
            PublishedFile("GISETTE/gisette_valid.data", GISETTE, n_rows=1_000, total=535_016_668),
            PublishedFile("GISETTE/gisette_test.data", GISETTE, n_rows=6_500, total=3_431_572_010),
        ),
        parse=partial(read_dense_rows, n_features=5_000),
        compact="gisette.npz",
        notes=(
            "One of the paper's four matrices (Section 4.2). Rows are the 6,000 training, 1,000 validation and 6,500 "
            "test images, in this order. Each part is compared with the check-sum of the challenge. Most features are "
            "zero, so the matrix is kept sparse."
        ),
    ),
    Card(
        name="tdt2",
        title="TDT2",
        origin="News of six agencies and stations, first half of 1998 (NIST); counts of words prepared by Deng Cai.",
        rows="terms",
        columns="documents",
        values="how often the term occurs in the document",
        shape=(36_771, 10_212),
        nnz=1_323_869,
        total=1_863_655,
        licence=RESEARCH_ONLY,
        citation=(
            "C. Cieri, D. Graff, M. Liberman, N. Martey and S. Strassel. The TDT-2 text and speech corpus. DARPA "
            "Broadcast News Workshop, 1999; and D. Cai, Q. Mei, J. Han and C. Zhai. Modeling hidden topics on document "
            "manifold. CIKM 2008."
        ),
        published="http://www.cad.zju.edu.cn/home/dengcai/Data/TextData.html",
        files=(
            PublishedFile(
                "TDT2_all.mat", "http://www.cad.zju.edu.cn/home/dengcai/Data/TDT2/TDT2_all.mat", n_rows=10_212
            ),
        ),
        parse=partial(read_matlab, variable="fea"),
        compact="tdt2.npz",
        notes=(
            "All 96 topics; TDT2.mat on the same page holds only the 30 largest. Stands in for Enron where that is not "
            "at hand. The published file lists documents; the matrix is turned so that it has more rows than columns, "
            "as in the paper."
        ),
    ),
    Card(
        name="kos",
        title="KOS blog entries",
        origin="Entries of the Daily Kos blog as bags of words, without stop words and rare words; by D. Newman, UCI.",
        rows="words",
        columns="documents",
        values="how often the word occurs in the document",
        shape=(6_906, 3_430),
        nnz=353_160,
        total=467_714,
        licence="CC BY 4.0",
        citation=NEWMAN,
        published="https://archive.ics.uci.edu/dataset/164/bag+of+words",
        files=(PublishedFile("docword.kos.txt.gz", f"{BAG_OF_WORDS}/docword.kos.txt.gz", n_rows=3_430),),
        parse=read_bag_of_words,
        compact="kos.npz",
        notes=(
            "Handy where Enron is too large. The published file lists documents; the matrix is turned so that it has "
            "more rows than columns, as in the paper."
        ),
    ),
    Card(
        name="mnist_test",
        title="MNIST test images",
        origin="Handwritten digits of NIST, in 28 x 28 pixels by LeCun, Cortes and Burges; the 10,000 for testing.",
        rows="images",
        columns="pixels",
        values="darkness of the pixel, 0 to 255",
        shape=(10_000, 784),
        nnz=1_511_219,
        total=264_923_200,
        licence="none stated by its authors",
        citation=(
            "Y. LeCun, L. Bottou, Y. Bengio and P. Haffner. Gradient-based learning applied to document recognition. "
            "Proceedings of the IEEE 86(11), pages 2278-2324, 1998."
        ),
        published="http://yann.lecun.com/exdb/mnist/",
        files=(
            PublishedFile(
                "t10k-images-idx3-ubyte.gz",
                "https://storage.googleapis.com/cvdf-datasets/mnist/t10k-images-idx3-ubyte.gz",
                "sha256:8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
                n_rows=10_000,
            ),
        ),
        parse=read_idx_images,
        compact="mnist_t10k.npz",
        notes=(
            "Stands in for Gisette where that is not at hand; it is not Gisette. Four pixels in five are zero, so the "
            "matrix is kept sparse. Downloaded from a mirror of Google, since the page of its authors is often closed."
        ),
    ),
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
        name="basehock",
        title="BASEHOCK",
        origin="Messages of two of the 20 Newsgroups; counts of words from the scikit-feature collection.",
        rows="terms",
        columns="documents",
        values="how often the term occurs in the document",
        shape=(4_862, 1_993),
        nnz=134_253,
        total=204_566,
        licence=RESEARCH_ONLY,
        citation=SELECTION,
        published=SCIKIT_FEATURE,
        compact="basehock.npz",
        notes="The first 994 documents are one class; the labels are left out.",
    ),
    Card(
        name="pcmac",
        title="PCMAC",
        origin="Messages of two of the 20 Newsgroups; counts of words from the scikit-feature collection.",
        rows="terms",
        columns="documents",
        values="how often the term occurs in the document",
        shape=(3_289, 1_943),
        nnz=93_185,
        total=143_917,
        licence=RESEARCH_ONLY,
        citation=SELECTION,
        published=SCIKIT_FEATURE,
        compact="pcmac.npz",
        notes="The first 982 documents are one class; the labels are left out.",
    ),
    Card(
        name="arcene",
        title="Arcene, training and validation",
        origin="Mass spectra for the NIPS 2003 feature selection challenge, with features made up among them.",
        rows="features",
        columns="samples",
        values="a feature of the sample, 0 to 999",
        shape=(10_000, 200),
        nnz=1_087_539,
        total=142_136_852,
        licence="CC BY 4.0",
        citation=CHALLENGE,
        published="the UCI Machine Learning Repository, under the name Arcene",
        compact="arcene_train_valid.npz",
        notes=(
            "Columns are the 100 training and 100 validation samples, in this order; the 700 test samples are not part "
            "of it."
        ),
    ),
    Card(
        name="gene_prostate",
        title="Prostate-GE",
        origin="Expression of genes in prostate tumours and normal tissue (Singh et al.), scikit-feature collection.",
        rows="genes",
        columns="samples",
        values="expression of the gene in the sample, on a logarithmic scale, 1 to 4.2",
        shape=(5_966, 102),
        nnz=608_532,
        licence=RESEARCH_ONLY,
        citation=(
            "D. Singh et al. Gene expression correlates of clinical prostate cancer behavior. Cancer Cell 1(2), pages "
            "203-209, 2002."
        ),
        published=SCIKIT_FEATURE,
        compact="gene_prostate.npz",
        notes="No entry is zero: the matrix is a NumPy array.",
    ),
    Card(
        name="gene_stt",
        title="Soft-tissue tumours",
        origin="Expression of genes in 31 tumours of three types (Nielsen et al.); the subset of the R package rCUR.",
        rows="genes",
        columns="samples",
        values="expression of the gene in the sample, -8.5 to 9.9",
        shape=(5_520, 31),
        nnz=171_107,
        licence="GPL 2 or later, as the package rCUR",
        citation=(
            "T. O. Nielsen et al. Molecular characterisation of soft tissue tumours: a gene expression study. The "
            "Lancet 359, pages 1301-1307, 2002."
        ),
        published="https://github.com/cran/rCUR",
        compact="gene_stt.npz",
        notes="Hardly any entry is zero: the matrix is a NumPy array. The whole study is GSE3443 of GEO.",
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
        values="1 where the answer is right, 0 where it is wrong",
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

#: The card of every data set, by name; the paper's four come first.
CARDS: dict[str, Card] = {card.name: card for card in TABLE}


def find_card(name: str) -> Card:
    """The card of the data set that is called ``name``."""
    if name not in CARDS:
        raise InvalidArgumentError(f"there is no data set called {name!r}. Choose one of {', '.join(CARDS)}.")
    return CARDS[name]
