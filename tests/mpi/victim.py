"""Ranks that write a file again and again, each time full of another number, until one of them is killed."""

import os
import sys

import numpy as np

import gsp_fb as gf

graph = gf.open_graph(sys.argv[1])
with open(f"{sys.argv[2]}.pid{graph.storage.layout.comm.rank}", "w") as file:
    file.write(str(os.getpid()))
turn = 0
while True:
    graph.storage.save(np.full((len(graph.local_rows), 8), float(turn)), sys.argv[2])
    turn += 1
