"""Claims of the paper about its experiments: one row each, with the cells that are evidence for or against it."""

from __future__ import annotations

from dataclasses import dataclass

from .catalogue import COLLECTIONS, DIRECTED, FURTHER, LEAK_FREE, NINE, WEBKB
from .directed import form_pairs

__all__ = ["CLAIMS", "UNPRINTED", "Claim", "Unprinted"]


@dataclass(frozen=True)
class Claim:
    """One claim.

    Attributes
    ----------
    name, text : str
    experiment : str
        Whose cells are compared.
    pairs : tuple of (str, str)
        Labels of the row that should be better and of the other one.
    datasets : tuple of str
    quantity : str
        What is compared; a row of ``paper.verdicts.QUANTITIES``, or of ``EXACT`` there.
    beyond : bool
        A question of ours, not a claim of the paper.
    across : bool
        The two rows are trained on different graphs of the same nodes and splits.
    """

    name: str
    text: str
    experiment: str
    pairs: tuple[tuple[str, str], ...]
    datasets: tuple[str, ...]
    quantity: str = "score"
    beyond: bool = False
    across: bool = False


_SHALLOW = (("FB-GCN-sym", "GCN"), ("FB-GCN-lazy", "GCN"), ("FB-GraphSAGE", "GraphSAGE"), ("FB-GAT", "GAT"))
_DEPTHS = (8, 16, 32, 64)
_HOMOPHILIC = ("cora", "citeseer", "pubmed")

CLAIMS = (
    Claim(
        "labels are smoother than features",
        "On homophilic data the labels have the smaller S-value",
        "table1",
        (("S-values", "S-values"),),
        _HOMOPHILIC,
        "smoother",
    ),
    Claim(
        "labels are rougher than features",
        "On Wisconsin and Texas the labels have the greater S-value",
        "table1",
        (("S-values", "S-values"),),
        ("wisconsin", "texas"),
        "rougher",
    ),
    *(
        Claim(f"{better} beats {worse}", "Two channels are better than one", "table9", ((better, worse),), NINE)
        for better, worse in _SHALLOW
    ),
    Claim(
        "lazy beats renormalised",
        "The lazy random walk is the better filter on heterophilic data",
        "table9",
        (("FB-GCN-lazy", "FB-GCN-sym"),),
        (*WEBKB, "actor"),
    ),
    Claim(
        "renormalised beats lazy",
        "The renormalised filter is the better one on homophilic data",
        "table9",
        (("FB-GCN-sym", "FB-GCN-lazy"),),
        _HOMOPHILIC,
    ),
    Claim(
        "outputs of FB-GCN are rougher",
        "The S-value of FB-GCN's output is above that of GCN's",
        "table9",
        (("FB-GCN-sym", "GCN"),),
        NINE,
        "s_value",
    ),
    Claim(
        "outputs of FB-GCN are nearer to the labels",
        "The S-value of FB-GCN's output is nearer to that of the labels than GCN's",
        "table9",
        (("FB-GCN-sym", "GCN"),),
        NINE,
        "nearness",
    ),
    *(
        Claim(
            f"FB-{name} beats {name}",
            "Two channels are better than one",
            "table2",
            ((f"FB-{name}", name),),
            NINE,
        )
        for name in ("GraphSAINT", "Geom-GCN-P", "Geom-GCN-S", "Geom-GCN-I", "GWNN")
    ),
    *(
        Claim(
            f"FB-{name}-{depth} beats {name}-{depth}",
            "Two channels help deep networks",
            "table4",
            ((f"FB-{name}-{depth}", f"{name}-{depth}"),),
            NINE,
        )
        for name in ("GCNII", "GCNII*")
        for depth in _DEPTHS
    ),
    Claim(
        "nonlinear beats linear",
        "A nonlinear transformation within the channels helps",
        "table5",
        tuple((f"{count}-channel-nonlinear", f"{count}-channel-linear") for count in (1, 2)),
        ("cora", "cornell", "texas"),
    ),
    Claim(
        "both channels beat one",
        "Two channels help, linear or not",
        "table5",
        tuple((f"2-channel-{kind}", f"1-channel-{kind}") for kind in ("linear", "nonlinear")),
        ("cora", "cornell", "texas"),
    ),
    *(
        Claim(
            f"FB-GIN-{kind} beats GIN-{kind}",
            "Two channels help to classify whole graphs",
            "table6",
            ((f"FB-GIN-{kind}", f"GIN-{kind}"),),
            COLLECTIONS,
        )
        for kind in ("0", "eps")
    ),
    Claim(
        "the high channel weighs more",
        "On six of nine data sets the learned weight of the high channel is the greater one",
        "table2",
        (("FB-GraphSAINT", "FB-GraphSAINT"),),
        (*WEBKB, "actor", "chameleon", "pubmed"),
        "alphas",
    ),
    Claim(
        "both channels beat one on PPI",
        "Two channels help, linear or not",
        "table8",
        tuple((f"2-channel-{kind}", f"1-channel-{kind}") for kind in ("linear", "nonlinear")),
        ("ppi",),
    ),
    *(
        Claim(
            f"{better} beats {worse} on further sets",
            "Two channels are better than one",
            "table10",
            ((better, worse),),
            FURTHER,
        )
        for better, worse in _SHALLOW
    ),
    *(
        Claim(
            f"{better} beats {worse} without leaks",
            "The high channel helps where no duplicates leak from training to test",
            "leak-free",
            ((better, worse),),
            LEAK_FREE,
            beyond=True,
        )
        for better, worse in _SHALLOW[:3]
    ),
    *(
        Claim(
            f"{better} beats {worse}",
            "The direction of arcs helps",
            "directed",
            form_pairs(better, worse),
            DIRECTED,
            beyond=True,
            across=True,
        )
        for better, worse in (("magnetic", "undirected"), ("out-arcs", "undirected"), ("magnetic", "out-arcs"))
    ),
)


@dataclass(frozen=True)
class Unprinted:
    """What a claim rests on and the paper does not print: the comparison is shown, and no verdict drawn from it.

    Attributes
    ----------
    claims : str
        How the names of the claims begin.
    reason : str
    protocols, datasets : tuple of str
        Where it applies; all data sets if none is named.
    """

    claims: str
    reason: str
    protocols: tuple[str, ...] = ("paper",)
    datasets: tuple[str, ...] = ()

    def covers(self, claim: str, protocol: str, dataset: str) -> bool:
        """Return whether a comparison rests on it."""
        return (
            claim.startswith(self.claims)
            and protocol in self.protocols
            and (not self.datasets or dataset in self.datasets)
        )


_DEFAULTS = "the paper lists no hyperparameters of {}; the defaults of the models are not its settings"
_SCALING = (
    "the listed weight decay keeps the network from learning on row-normalised features and not on raw ones; the paper "
    "does not print how features are scaled"
)
UNPRINTED = (
    Unprinted("FB-GCN-sym beats GCN", _SCALING, datasets=("citeseer",)),
    Unprinted("FB-GCN-lazy beats GCN", _SCALING, datasets=("citeseer",)),
    Unprinted("FB-GraphSAINT beats", _DEFAULTS.format("GraphSAINT with one channel or two")),
    Unprinted("the high channel weighs more", _DEFAULTS.format("FB-GraphSAINT")),
    Unprinted("FB-GWNN beats", _DEFAULTS.format("GWNN with one channel or two")),
    Unprinted("FB-Geom-GCN", _DEFAULTS.format("Geom-GCN with one channel")),
    Unprinted("FB-GIN", _DEFAULTS.format("GIN with one channel")),
    Unprinted("nonlinear beats linear", _DEFAULTS.format("the rows of Table 5")),
    Unprinted("both channels beat one", _DEFAULTS.format("the rows of Tables 5 and 8")),
    Unprinted(
        "outputs of FB-GCN",
        "the paper defines the output neither as logits nor as probabilities; the comparison is one of logits, and "
        "Tables 1 and 3 give both",
        protocols=("paper", "tuned"),
    ),
)
