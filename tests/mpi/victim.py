"""Ranks that write a file again and again, each time full of another number, until one of them is killed."""

import os
import sys

import numpy as np

from gsp_fb import distributed

graph = distributed.open_graph(sys.argv[1])
with open(f"{sys.argv[2]}.pid{graph.comm.rank}", "w") as file:
    file.write(str(os.getpid()))
turn = 0
while True:
    distributed.save(graph, np.full((graph.n_local, 8), float(turn)), sys.argv[2])
    turn += 1
