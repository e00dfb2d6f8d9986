"""The claims of the paper as executable statements that can be verified on any graph."""

from .claims import CLAIMS, Claim
from .dense import paper_dense, paper_matrix, tolerance
from .verify import ClaimResult, verify, verify_each

__all__ = ["CLAIMS", "Claim", "ClaimResult", "paper_dense", "paper_matrix", "tolerance", "verify", "verify_each"]
