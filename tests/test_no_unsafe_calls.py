"""No source of the library can run what a file states (by its syntax tree): no pickle, no torch.load, eval or shell."""

import ast
from pathlib import Path

import pytest

import gsp_fb

PACKAGE = Path(gsp_fb.__file__).parent
# The one module that may: it reads Planetoid's pickles through an allow-list of opcodes and names.
ALLOWED = {("datasets/readers/pickled.py", "pickle"), ("datasets/readers/pickled.py", "pickletools")}
MODULES = {
    *("pickle", "_pickle", "cPickle", "pickletools", "cloudpickle", "dill", "marshal", "shelve", "joblib"),
    *("code", "codeop", "commands", "pty", "imp"),
}
NAMES = {"eval", "exec", "compile", "execfile", "__import__"}
ATTRIBUTES = {
    *("torch.load", "torch.jit.load", "torch.hub.load", "os.system", "os.popen", "os.startfile"),
    *("numpy.loads", "yaml.load", "yaml.unsafe_load", "builtins.eval", "builtins.exec"),
}
# Whatever they are called on: these unpickle, or hand a string to an interpreter.
METHODS = {"read_pickle", "to_pickle", "literal_exec", "getoutput", "getstatusoutput", "spawnlp", "execvp", "execv"}


def findings(source):
    """Return every unsafe thing in a source, with its line."""
    found = []
    for node in ast.walk(ast.parse(source)):
        found += [(node.lineno, what) for what in _unsafe(node)]
    return found


def _unsafe(node):
    if isinstance(node, ast.Import):
        yield from (name.name for name in node.names if name.name.partition(".")[0] in MODULES)
    elif isinstance(node, ast.ImportFrom):
        root = (node.module or "").partition(".")[0]
        yield from [root] * (root in MODULES and not node.level)
        yield from (name.name for name in node.names if f"{node.module}.{name.name}" in ATTRIBUTES)
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in NAMES:
        yield node.id
    elif isinstance(node, ast.Attribute) and (ast.unparse(node) in ATTRIBUTES or node.attr in METHODS):
        yield ast.unparse(node)
    elif isinstance(node, ast.Call):
        yield from _unsafe_arguments(node)


def _unsafe_arguments(call):
    words = {word.arg: ast.unparse(word.value) for word in call.keywords if word.arg}
    yield from (f"{name}={words[name]}" for name in ("shell", "allow_pickle") if words.get(name, "False") != "False")
    # np.load and its like refuse pickles by default, but only since numpy 1.16.3; said or not used at all.
    if ast.unparse(call.func) in ("np.load", "numpy.load") and "allow_pickle" not in words:
        yield "np.load without allow_pickle=False"
    # A module that is asked for by name is imported all the same.
    if ast.unparse(call.func).rpartition(".")[2] in ("require", "import_module") and call.args:
        asked = call.args[0].value if isinstance(call.args[0], ast.Constant) else ""
        yield from [asked] * (str(asked).partition(".")[0] in MODULES)


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_no_module_can_run_what_a_file_says(path):
    name = path.relative_to(PACKAGE).as_posix()
    unsafe = findings(path.read_text(encoding="utf-8"))
    assert [(line, what) for line, what in unsafe if (name, what) not in ALLOWED] == []


def test_the_allow_list_is_used_in_full():
    used = {(name, what) for name, _ in ALLOWED for _, what in findings((PACKAGE / name).read_text(encoding="utf-8"))}
    assert used == ALLOWED


@pytest.mark.parametrize(
    "source",
    [
        "import pickle", "import pickle as p", "from pickle import loads", "def f():\n    import marshal", "eval('1')",
        "exec(text)", "run = eval", "import torch\ntorch.load(path)", "from torch import load",
        "import os\nos.system('x')", "from os import system", "subprocess.run(line, shell=True)",
        "subprocess.run(line, shell=flag)", "os.popen(line)",
        "np.load(path)", "np.load(path, allow_pickle=True)", "pandas.read_pickle(path)", "require('dill', 'it')",
        "__import__('os')", "importlib.import_module('cloudpickle')", "import joblib.numpy_pickle",
    ],
)  # fmt: skip
def test_the_search_finds_what_it_looks_for(source):
    assert findings(source)


@pytest.mark.parametrize(
    "source",
    [
        "np.load(path, allow_pickle=False)",
        "subprocess.run([x], shell=False)",
        "from .code import x",
        "model.load(path)",
    ],
)
def test_and_nothing_else(source):
    assert findings(source) == []
