"""What the documentation promises: every public name has an example, every page a link, every command exists."""

import ast
import doctest
import importlib
import re
import shlex
from pathlib import Path
from types import FunctionType

import pytest

from gsp_fb import cli
from paper.__main__ import main as paper_main

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("*.md"))
TEXTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *PAGES]
# The API reference; the reproduction of the paper is not part of the library, but its examples follow the same rules.
REFERENCE = (
    "gsp_fb",
    "gsp_fb.advice",
    "gsp_fb.datasets",
    "gsp_fb.distributed",
    "gsp_fb.errors",
    "gsp_fb.estimators",
    "gsp_fb.files",
    "gsp_fb.filters",
    "gsp_fb.nn",
    "gsp_fb.nn.pyg",
    "gsp_fb.outofcore",
    "gsp_fb.plot",
    "gsp_fb.learning",
    "gsp_fb.reduction",
    "gsp_fb.report",
    "gsp_fb.sampling",
    "gsp_fb.testing",
    "gsp_fb.theory",
    "gsp_fb.variants",
)
MODULES = (*REFERENCE, "paper")


def page_id(path):
    return path.name


def public_objects(module_name):
    """Yield the functions and classes that a module lists; tables, constants and submodules have no docstring."""
    module = importlib.import_module(module_name)
    for name in module.__all__:
        thing = getattr(module, name)
        if callable(thing) and hasattr(thing, "__doc__"):
            yield name, thing


def runnable_lines(docstring):
    examples = doctest.DocTestParser().get_examples(docstring or "")
    return [example for example in examples if not example.options.get(doctest.SKIP)]


@pytest.mark.parametrize("module_name", MODULES)
def test_every_public_name_has_an_example_that_runs(module_name):
    without = [name for name, thing in public_objects(module_name) if not runnable_lines(thing.__doc__)]
    assert without == []


def public_methods(thing):
    """Yield what a class itself defines to be called; inherited methods are documented elsewhere."""
    for name, method in vars(thing).items() if isinstance(thing, type) else ():
        function = getattr(method, "__func__", method)
        if not name.startswith("_") and isinstance(function, FunctionType):
            yield name, function


@pytest.mark.parametrize("module_name", ["gsp_fb", "gsp_fb.datasets", "gsp_fb.filters", "gsp_fb.report"])
def test_every_method_of_the_core_has_an_example_that_runs(module_name):
    methods = [
        (f"{owner}.{name}", method)
        for owner, thing in public_objects(module_name)
        for name, method in public_methods(thing)
    ]
    assert [name for name, method in methods if not runnable_lines(method.__doc__)] == []


@pytest.mark.parametrize("module_name", MODULES)
def test_every_example_stands_under_its_heading(module_name):
    heading = re.compile(r"^ *Examples\n *--------\n", re.MULTILINE)
    bare = [name for name, thing in public_objects(module_name) if not heading.search(thing.__doc__ or "")]
    assert bare == []


def test_the_rule_would_find_a_name_without_an_example():
    assert not runnable_lines("Return nothing.")
    assert not runnable_lines("Examples\n--------\n>>> load('texas')  # doctest: +SKIP\n")
    assert runnable_lines("Examples\n--------\n>>> 1 + 1\n2\n")


def pages_asked_for(docstring):
    return re.findall(r":mod:`~?([\w.]+)`", docstring or "")


@pytest.mark.parametrize("module_name", REFERENCE)
def test_docstrings_link_to_modules_that_have_a_page(module_name):
    """Sphinx turns a link to another module into a warning, which ends the build of the documentation."""
    found = [
        page
        for _, thing in public_objects(module_name)
        for documented in (thing, *(method for _, method in public_methods(thing)))
        for page in pages_asked_for(documented.__doc__)
    ]
    assert set(found) <= set(REFERENCE)
    assert pages_asked_for("see :mod:`gsp_fb.filters.polynomials`") == ["gsp_fb.filters.polynomials"]


def test_every_module_of_the_reference_is_checked_here_and_back():
    listed = re.findall(r"^   (gsp_fb\S*)$", DOCS.joinpath("api", "index.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(listed) == sorted(REFERENCE)


def test_the_reproducibility_page_is_that_of_the_stored_results(tmp_path):
    """What ``python -m paper --report --output docs/reproducibility.md`` writes is what is read."""
    written = DOCS / "reproducibility.md"
    again = tmp_path / "docs" / written.name
    again.parent.mkdir()
    assert paper_main(["--report", "--results", str(ROOT / "paper" / "results"), "--output", str(again)]) == 0
    assert again.read_text(encoding="utf-8") == written.read_text(encoding="utf-8")


def toctree_entries():
    text = DOCS.joinpath("index.md").read_text(encoding="utf-8")
    trees = re.findall(r"```\{toctree\}\n(.*?)```", text, re.DOTALL)
    return [line for tree in trees for line in tree.splitlines() if line and not line.startswith(":")]


def test_every_page_is_in_the_table_of_contents_once():
    written = {page.stem for page in PAGES} - {"index"}
    assert sorted(toctree_entries()) == sorted(written | {"api/index", "auto_gallery/index"})


@pytest.mark.parametrize("page", TEXTS, ids=page_id)
def test_every_link_to_a_file_leads_somewhere(page):
    text = re.sub(r"```python.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    targets = [target.partition("#")[0] for target in re.findall(r"\]\(([^)\s]+)\)", text)]
    files = [target for target in targets if target and "://" not in target]
    assert [target for target in files if not (page.parent / target).exists()] == []


def glossary():
    """Return the terms of the glossary with their synonyms."""
    text = DOCS.joinpath("glossary.md").read_text(encoding="utf-8")
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    return [(row[0], row[2].split(", ") if len(row) > 2 else []) for row in rows if row[0] != "term"]


def test_the_glossary_defines_every_term_once():
    terms = [term for term, _ in glossary()]
    assert len(terms) >= 40
    assert sorted(set(terms)) == sorted(terms)


@pytest.mark.parametrize(
    "word",
    [
        "graph shift operator",
        "frequency response",
        "vertex",
        "bandlimited",
        "total variation",
        "over-smoothing",
        "matvec",
    ],
)
def test_the_glossary_has_the_words_that_people_search_for(word):
    assert word in {name for term, synonyms in glossary() for name in (term, *synonyms)}


# Written by paper/report.py from stored results.
GENERATED = {"reproducibility.md"}


@pytest.mark.parametrize("page", [page for page in PAGES if page.name not in GENERATED], ids=page_id)
def test_every_page_that_uses_a_term_links_to_the_glossary(page):
    text = page.read_text(encoding="utf-8")
    for name in re.findall(r"```\{include\} (\S+)", text):
        text += (page.parent / name).read_text(encoding="utf-8")
    used = [term for term, _ in glossary() if re.search(rf"\b{re.escape(term)}s?\b", text)]
    assert not used or page.name == "glossary.md" or "glossary.md" in text


def drawn_and_used(block):
    """Return the names of axes that a block of a script makes, and the names that it takes from blocks before it."""
    nodes = list(ast.walk(ast.parse(block)))
    made = [node for node in nodes if isinstance(node, ast.Assign) and "plt.subplots" in ast.unparse(node.value)]
    names = {part.id for node in made for part in ast.walk(node.targets[0]) if isinstance(part, ast.Name)}
    seen = [node for node in nodes if isinstance(node, ast.Name)]
    own = {node.id for node in seen if isinstance(node.ctx, ast.Store)}
    return names, {node.id for node in seen} - own


@pytest.mark.parametrize("script", sorted(DOCS.joinpath("gallery").glob("plot_*.py")), ids=page_id)
def test_every_figure_is_whole_in_the_block_that_begins_it(script):
    """A figure is shown, and closed, where its block ends: what a later block draws into it is seen by nobody."""
    open_axes = set()
    for block in script.read_text(encoding="utf-8").split("# %%"):
        made, used = drawn_and_used(block)
        assert not used & open_axes
        open_axes |= made


def shell_lines(text):
    """Return the commands after a ``$`` in a console block, without their comments."""
    blocks = re.findall(r"```console\n(.*?)```", text, re.DOTALL)
    lines = [line for block in blocks for line in block.replace("\\\n", " ").splitlines() if line.startswith("$ ")]
    return [shlex.split(line[2:].rstrip("& "), comments=True) for line in lines]


def inline_commands(text):
    """Return the commands that a sentence names in backticks."""
    prose = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    return [shlex.split(code) for code in re.findall(r"(?<!`)`((?:gsp-fb|make) [^`]*)`", prose)]


def commands(page, program):
    text = page.read_text(encoding="utf-8")
    return [words[1:] for words in (*shell_lines(text), *inline_commands(text)) if words[:1] == [program]]


def with_a_source(words):
    """Return a command that is named alone with the words that it cannot do without."""
    needs = {"train": ["fb-gcn", "texas"], "search": ["fb-gcn", "texas"], "convert": ["a.csv", "b.npz"]}
    free = {"datasets", "models", "demo"}
    return words if len(words) > 1 or words[0] in free else [*words, *needs.get(words[0], ["texas"])]


@pytest.mark.parametrize("page", TEXTS, ids=page_id)
def test_every_command_line_is_understood(page, capsys):
    for words in commands(page, "gsp-fb"):
        try:
            cli._parser().parse_args(with_a_source(words))
        except SystemExit:
            pytest.fail(f"gsp-fb {shlex.join(words)}: {capsys.readouterr().err}")


def test_a_wrong_command_line_would_be_noticed(capsys):
    with pytest.raises(SystemExit):
        cli._parser().parse_args(["report", "texas", "--no-such-option"])
    assert "--no-such-option" in capsys.readouterr().err
    assert shell_lines("```console\n$ gsp-fb info texas  # facts\n```") == [["gsp-fb", "info", "texas"]]
    assert inline_commands("see `gsp-fb verify` and `gsp_fb.verify`") == [["gsp-fb", "verify"]]


def test_every_command_that_exists_is_documented():
    documented = {words[0] for page in TEXTS for words in commands(page, "gsp-fb")}
    assert {command.name for command in cli.COMMANDS} - documented == set()


def test_every_training_line_for_several_processes_is_understood():
    torchrun = pytest.importorskip("gsp_fb.cli.torchrun")
    pytest.importorskip("torch", reason="training needs torch")
    lines = [words for page in TEXTS for words in shell_lines(page.read_text(encoding="utf-8"))]
    found = [words[words.index("gsp_fb.nn") + 1 :] for words in lines if "gsp_fb.nn" in words]
    assert found
    for words in found:
        torchrun._parser().parse_args(words)


@pytest.mark.parametrize("page", TEXTS, ids=page_id)
def test_every_make_target_exists(page):
    targets = set(re.findall(r"^([\w-]+):", ROOT.joinpath("Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert {word for words in commands(page, "make") for word in words[:1]} <= targets


def test_every_table_that_contributors_are_sent_to_exists():
    text = ROOT.joinpath("CONTRIBUTING.md").read_text(encoding="utf-8")
    named = re.findall(r"`(\w+)` in `(gsp_fb/[^`]+\.py)`", text)
    assert len(named) >= 5
    for table, path in named:
        assert re.search(rf"^{table}\b", ROOT.joinpath(path).read_text(encoding="utf-8"), re.MULTILINE), (table, path)


def test_every_make_target_is_documented_for_contributors():
    shown = re.findall(r"make ([\w-]+)", ROOT.joinpath("Makefile").read_text(encoding="utf-8"))
    documented = {words[0] for words in commands(ROOT / "CONTRIBUTING.md", "make")}
    assert set(shown) - documented == set()


def test_the_figures_of_the_readme_are_those_that_were_measured():
    text = ROOT.joinpath("README.md").read_text(encoding="utf-8")
    engine, networks = (
        ROOT.joinpath("benchmarks", name).read_text("utf-8") for name in ("RESULTS.md", "NN_RESULTS.md")
    )
    rows = (
        (engine, "filterbank, float64 | PyGSP", r"7\.49 times"),
        (engine, "S-value, 64 columns | PyGSP", r"3\.70 times"),
        (networks, "FB-GCN epoch, Cora | PyG", r"4\.41 times"),
        (networks, "FB-GCN epoch, n=1e5, nnz=2e6, F=64 | PyG", r"17\.01 times"),
    )
    for results, row, shown in rows:
        line = next(line for line in results.splitlines() if row in line)
        assert re.search(shown, text)
        assert shown.split(" ")[0].replace("\\", "") in line


def test_the_figures_of_the_questions_are_those_that_were_measured():
    text = " ".join(DOCS.joinpath("questions.md").read_text(encoding="utf-8").split())
    rows = (
        ("RESULTS.md", "filterbank, float64 | PyGSP", r"about (\d+) times as fast as PyGSP's"),
        ("NN_RESULTS.md", "FB-GCN epoch, Cora | PyG", r"about (\d+) times as fast as PyTorch Geometric's"),
    )
    for name, row, shown in rows:
        lines = ROOT.joinpath("benchmarks", name).read_text("utf-8").splitlines()
        ratio = re.search(r"\| (\d+\.\d+)(?:x| \()", next(line for line in lines if row in line))
        assert abs(float(ratio[1]) - int(re.search(shown, text)[1])) <= 0.5


def test_the_landing_page_has_a_figure_an_install_line_and_three_entries():
    text = DOCS.joinpath("index.md").read_text(encoding="utf-8")
    assert text.count("![") == 1
    assert "pip install" in text
    assert re.findall(r"\*\*\[(.+?)\]", text) == ["Analyse a signal", "Verify a theorem", "Train a network"]
    assert "**New in" in text
