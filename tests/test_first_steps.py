"""From a file of one's own to an answer: two commands, and the page that they write."""

import re

import numpy as np

import gsp_fb as gf
from gsp_fb.cli import main


def test_from_an_edge_list_to_the_four_answers(tmp_path, capsys):
    data = gf.datasets.contextual_sbm(80, homophily=0.1, degree=8, rng=0)
    gf.write_graph(data.graph, tmp_path / "friends.csv")
    np.savetxt(tmp_path / "classes.txt", data.y, fmt="%d")
    source = [str(tmp_path / "friends.csv"), "--labels", str(tmp_path / "classes.txt")]
    assert main(["info", *source]) == 0
    assert "80" in capsys.readouterr().out
    assert main(["report", *source, "-o", str(tmp_path / "friends.html")]) == 0
    page = (tmp_path / "friends.html").read_text(encoding="utf-8")
    found = re.findall(r'<dt>([^<]+\??)</dt><dd class="short">([^<]+)</dd><dd>([^<]+)</dd>', page)
    answers = {question: f"{short}. {rest}" for question, short, rest in found}
    assert "Labels: yes." in answers["Is it more than chance?"]
    assert answers["Would a second channel help?"].startswith("High channel:")
    assert "a random half of the nodes (40 labelled nodes)" in answers["Would a second channel help?"]
    assert main(["advise", *source, "--json"]) == 0
    advised = re.search(r'"text": "([^"]+)"', capsys.readouterr().out).group(1)
    assert answers["Would a second channel help?"].replace("&#39;", "'").startswith(advised)
