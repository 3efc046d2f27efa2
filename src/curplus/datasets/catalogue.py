"""All data sets: one table, a card in each row (ratings and panels: :mod:`.panels`). A new data set is a new row.

A card names the parser of its published files; the parsers stand in :mod:`curplus.datasets.formats`.
"""

from __future__ import annotations

from functools import partial

from ..exceptions import InvalidArgumentError
from .cards import RESEARCH_ONLY, Card, PublishedFile
from .formats import (
    read_bag_of_words,
    read_dense_rows,
    read_idx_images,
    read_libsvm,
    read_matlab,
    read_sparse_rows,
)
from .panels import PANELS

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
        values="1 if the term occurs in the ad",
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
            "All 96 topics; TDT2.mat on the same page holds only the 30 largest. Stands in for Enron if that is not "
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
            "Handy if Enron is too large. The published file lists documents; the matrix is turned so that it has "
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
            "Stands in for Gisette if that is not at hand; it is not Gisette. Four pixels in five are zero, so the "
            "matrix is kept sparse. Downloaded from a mirror of Google, since the page of its authors is often closed."
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
    *PANELS,
)

#: The card of every data set, by name; the paper's four come first.
CARDS: dict[str, Card] = {card.name: card for card in TABLE}


def find_card(name: str) -> Card:
    """The card of the data set that is called ``name``."""
    if name not in CARDS:
        raise InvalidArgumentError(f"there is no data set called {name!r}. Choose one of {', '.join(CARDS)}.")
    return CARDS[name]
