"""The questions of a newcomer are headings of one page, each answered with a link to a page of the documentation."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
ASKED = (
    "which family do I take",
    "what does S mean on my data",
    "why is my label S 0.5",
    "how do I use my own nodes' names",
    "which kernel",
    "how do I denoise",
    "how sure is this number",
    "what does the theorem need",
    "how do I add a model",
    "does it run on a GPU",
    "on a cluster",
    "how fast",
    "how do I cite",
    "what does the paper get wrong",
    "does the high channel help me",
    "what do the alphas say",
    "how do I compare fairly",
    "how do I get predictions out",
    "why does it refuse my file",
    "what changed between versions",
)
SECTIONS = re.split(r"^## ", DOCS.joinpath("questions.md").read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]


@pytest.mark.parametrize("question", ASKED)
def test_a_question_is_a_heading_with_an_answer_and_a_link(question):
    found = [section for section in SECTIONS if question.lower() in section.partition("\n")[0].lower()]
    assert len(found) == 1
    links = re.findall(r"\]\(([\w.-]+\.md)\)", found[0])
    assert links
    assert all(DOCS.joinpath(link).is_file() for link in links)
    assert len(found[0].split()) > 12


def test_there_is_one_section_for_each():
    assert len(SECTIONS) == len(ASKED) == 20
