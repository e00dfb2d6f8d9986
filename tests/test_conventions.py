"""Conventions of the source: names defined once, no import by string, the field's terms, command help."""

import ast
import re
from collections import defaultdict
from pathlib import Path

from gsp_fb.cli import COMMANDS

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "gsp_fb"
SOURCES = sorted(PACKAGE.rglob("*.py"))


def parsed(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def listed(tree):
    """Return the names in the ``__all__`` of a module, as far as they are written out."""
    lists = (
        node.value
        for node in tree.body
        if isinstance(node, ast.Assign | ast.AugAssign)
        and "__all__" in map(ast.unparse, node.targets if isinstance(node, ast.Assign) else [node.target])
    )
    return {part.value for value in lists for part in ast.walk(value) if isinstance(part, ast.Constant)}


def definitions():
    """Return by public name the modules that define it; a re-export is no definition."""
    found = defaultdict(set)
    for path in SOURCES:
        tree = parsed(path)
        public = listed(tree)
        for node in tree.body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name in public:
                found[node.name].add(path.relative_to(PACKAGE).as_posix())
    return found


# Modules that implement one registered interface; there a name stands for the same operation.
INTERFACES = {
    "array namespaces (backend/table.py)": r"backend/\w+\.py",
    "compiled and plain kernels (_kernels/engine.py)": r"_kernels/(__init__|plain|fast)\.py",
    "storages": r"storage/\w+\.py",
    "file formats (FORMATS in files/__init__.py)": r"files/_\w+\.py",
    "entry points of `gsp-fb` and `python -m gsp_fb.nn`": r"cli/(__init__|torchrun)\.py",
}
# plot.NAME draws what NAME computes.
PLOTTED = r"plot/\w+\.py"


def is_one_interface(modules):
    return any(all(re.fullmatch(pattern, module) for module in modules) for pattern in INTERFACES.values())


def is_drawn(modules):
    """Return whether one of two modules computes and the other draws."""
    return len(modules) == 2 and sum(bool(re.fullmatch(PLOTTED, module)) for module in modules) == 1


def test_a_public_name_is_defined_in_one_module():
    several = {name: modules for name, modules in definitions().items() if len(modules) > 1}
    several = {name: modules for name, modules in several.items() if not is_one_interface(modules)}
    several = {name: modules for name, modules in several.items() if not is_drawn(modules)}
    assert {name: sorted(modules) for name, modules in several.items()} == {}


def test_the_rule_would_find_a_name_that_is_defined_twice():
    assert not is_one_interface({"energy/dirichlet.py", "outofcore/energies.py"})
    assert is_one_interface({"backend/host.py", "backend/sparse.py"})
    assert is_drawn({"spectrum.py", "plot/frequency.py"})
    assert not is_drawn({"spectrum.py", "plot/frequency.py", "distributed/spectra.py"})


def string_imports(tree):
    """Yield the modules of the package that are imported by a string."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and node.args]
    for node in calls:
        name = getattr(node.func, "id", None) or getattr(node.func, "attr", "")
        first = getattr(node.args[0], "value", "")
        if name in ("import_module", "__import__", "require") and str(first).startswith("gsp_fb"):
            yield first


def test_no_module_of_the_package_is_imported_by_a_string():
    assert {path.name: found for path in SOURCES if (found := list(string_imports(parsed(path))))} == {}
    assert list(string_imports(ast.parse("importlib.import_module('gsp_fb.plot').response(1)"))) == ["gsp_fb.plot"]


# Identifiers of the old dialect and what replaced them.
IDENTIFIERS = {
    "door": "input validation",
    "no_lanes": "zeros",
    "Lanes": "SimdVector",
    "add_times": "fma",
    "heaviest_labels": "label_propagation_step",
    "Ferry": "DeviceProxy",
    "Passenger": "DeviceProxy",
    "Shore": "DeviceProxy",
    "on_shore": "with_device_arguments",
    "is_there": "on_device",
    "agreed": "collective_errors",
    "tidy": "garbage_cleanup",
    "_tidy": "garbage_cleanup",
    "on_first": "on_root",
    "own_rows": "local_rows",
    "one_voice": "root_only_output",
    "together": "batched",
    "_Together": "BatchedTrainer",
    "blind": "no_validation",
    "nobody": "empty",
    "told": "reported",
    "_told": "_format",
    "chance_s_value": "expected_s_value",
    "Blueprint": "BuildContext",
    "Recipe": "ModelSpec",
    "to_the_end": "fit",
    "core_basis": "symmetrized_basis",
    "_validate": "_arguments",
    "def ask": "prefetch",
    "def spread": "repeat_rows",
}
# Attributes and definitions only: as local names these are plain English.
ATTRIBUTES = {
    "breaks": "breakpoints",
    "core": "symmetrized",
    "greatest": "allreduce_max",
    "least": "lower_bound, allreduce_min",
}
PHRASES = {
    r"\b(?:is|are|be|was|were|what it is) told\b|\btold (?:by|in|where|to)\b": "reported, described, stated",
    r"\b(?:says|tells)\b": "states, reports",
    r"what chance gives": "expected value under random permutation",
    r"\bsmooth E_S\b": "Dirichlet energy",
    r"\bforgets\b|\bforgotten\b": "mixing rate",
    r"\baveragings?\b(?= nothing|s\b)": "propagation steps",
    r"\bshared out\b": "distributed over ranks",
    r"\bat the door\b|\bthe door\b|\bbehind it code trusts\b": "input validation",
    r"\basked for in vain\b": "prefetching past the end is harmless",
    r"\brows in registers\b": "register blocking",
    r"\bone voice\b": "output of the root rank",
}
TEXTS = sorted(
    path
    for pattern in ("gsp_fb/**/*.py", "paper/*.py", "tools/**/*.py", "benchmarks/*.py", "tests/**/*.py")
    for path in ROOT.glob(pattern)
    if path != Path(__file__)
)
PAGES = sorted(
    [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("docs/gallery/*.py"), *ROOT.glob("gsp_fb/report/*/*")]
)


def identifiers(tree):
    """Yield every name that a module defines or uses, and whether it is an attribute or a definition."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name, True
            yield f"def {node.name}", False
        elif isinstance(node, ast.Attribute):
            yield node.attr, True
        elif isinstance(node, ast.Name):
            yield node.id, False
        elif isinstance(node, ast.arg) or (isinstance(node, ast.keyword) and node.arg):
            yield node.arg, False
        elif isinstance(node, ast.alias):
            yield node.name.rpartition(".")[2], False


def old_terms(path):
    """Return the terms of the old dialect in a file, each with its replacement."""
    text = path.read_text(encoding="utf-8")
    matches = ((re.search(phrase, text, re.IGNORECASE), term) for phrase, term in PHRASES.items())
    found = {f"{match[0].lower()} -> {term}" for match, term in matches if match}
    for name, is_attribute in identifiers(ast.parse(text)) if path.suffix == ".py" else ():
        term = IDENTIFIERS.get(name) or (is_attribute and ATTRIBUTES.get(name))
        found |= {f"{name} -> {term}"} if term else set()
    return sorted(found)


def test_names_and_prose_use_the_terms_of_the_field():
    found = {path.relative_to(ROOT).as_posix(): old_terms(path) for path in [*TEXTS, *PAGES]}
    assert {name: terms for name, terms in found.items() if terms} == {}


def test_the_rule_would_find_an_old_term(tmp_path):
    source = tmp_path / "source.py"
    source.write_text('"""What chance gives, what chance gives."""\ndef add_times(core):\n    return core.core\n')
    assert old_terms(source) == [
        "add_times -> fma",
        "core -> symmetrized",
        "what chance gives -> expected value under random permutation",
    ]


def test_the_help_of_a_command_is_an_imperative_sentence():
    helps = {command.name: command.help for command in COMMANDS}
    assert [name for name, text in helps.items() if not re.fullmatch(r"[A-Z][a-z]+ .*[^.]\.", text)] == []


def test_workflows_and_hooks_run_targets_that_exist():
    targets = set(re.findall(r"^([\w-]+):", ROOT.joinpath("Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    files = [*ROOT.glob(".github/workflows/*.yml"), ROOT / ".pre-commit-config.yaml"]
    texts = {file.name: file.read_text(encoding="utf-8") for file in files}
    used = {name: set(re.findall(r"\bmake ([\w-]+)", text)) for name, text in texts.items()}
    listed = set(re.search(r"target: \[(.*)\]", texts["nightly.yml"])[1].split(", "))
    assert set(texts) == {"check.yml", "docs.yml", "nightly.yml", "release.yml", "tests.yml", ".pre-commit-config.yaml"}
    assert set().union(*used.values(), listed) <= targets
    assert "make check" in texts[".pre-commit-config.yaml"]
