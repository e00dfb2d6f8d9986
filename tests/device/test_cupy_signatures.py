"""Every function of CuPy that we call exists there and takes the arguments we give it, read from the real package.

Two sets of calls are taken from our own source, so that a new call is checked without a new test: those of the module
that names cupy, and those through ``xp``, which is cupy itself for CuPy's arrays. No device is needed.
"""

import ast
import importlib
import inspect
from pathlib import Path

import pytest

import gsp_fb

cupy = pytest.importorskip("cupy", reason="needs the cupy package: pip install 'gsp-fb[gpu]'; no device needed")

PACKAGE = Path(gsp_fb.__file__).parent
ROW = PACKAGE / "backend" / "cuda.py"
# Whatever asks an array for its namespace; the other rows answer for libraries of their own.
OTHER_ROWS = {PACKAGE / "backend" / "host.py", PACKAGE / "testing" / "device.py", ROW}
MODULES = [
    path for path in PACKAGE.rglob("*.py") if path not in OTHER_ROWS and "namespace" in path.read_text(encoding="utf-8")
]


def imported_names(tree):
    """Return which library each name stands for that a module binds to one of CuPy's."""
    libraries = (n for n in tree.body if isinstance(n, ast.Assign) and ast.unparse(n.value).startswith("_Library("))
    return {node.targets[0].id: node.value.args[0].value for node in libraries}


def calls(path, names):
    """Yield the dotted target and the call of everything that starts with one of ``names``."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call):
            root, _, rest = ast.unparse(node.func).partition(".")
            if root in names and rest:
                yield f"{names[root]}.{rest}", node


def through_xp(path):
    """Yield calls through ``xp``, and through ``namespace(array)`` directly."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            owner = ast.unparse(node.func.value)
            if owner == "xp" or owner.startswith("namespace("):
                yield f"cupy.{node.func.attr}", node


def attributes_of_xp(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "xp":
            yield node.attr


ROW_CALLS = list(calls(ROW, imported_names(ast.parse(ROW.read_text()))))
XP_CALLS = [pair for path in MODULES for pair in through_xp(path)]


def described(pairs):
    return {f"{target} @ {ast.unparse(node)[:70]}": (target, node) for target, node in pairs}


def source_function(target):
    """Return the definition of a function or class of a module that cannot be imported without the CUDA libraries."""
    module, _, name = target.rpartition(".")
    folder = Path(cupy.__file__).parent.parent.joinpath(*module.split("."))
    for path in folder.glob("*.py"):
        found = [n for n in ast.parse(path.read_text()).body if getattr(n, "name", None) == name]
        if found and isinstance(found[0], ast.ClassDef):
            inits = (n for n in ast.walk(ast.parse(path.read_text())) if getattr(n, "name", None) == "__init__")
            return max(inits, key=lambda init: len(init.args.args)), True
        if found:
            return found[0], False
    raise AttributeError(f"{target} is nowhere in cupy {cupy.__version__}")


def parameters(target):
    """Return the parameters of a function of cupy, from its signature or, where there is none, from its source."""
    module, _, name = target.rpartition(".")
    try:
        owner = importlib.import_module(module)
    except ImportError:
        node, is_method = source_function(target)
        signature = f"def f({ast.unparse(node.args)}): ..."
        scope = {}
        exec(signature, {}, scope)
        found = list(inspect.signature(scope["f"]).parameters.values())
        return found[is_method:]
    function = getattr(owner, name)
    if inspect.isclass(function):
        inits = (kind.__init__ for kind in function.__mro__ if "__init__" in vars(kind))
        named = [list(inspect.signature(init).parameters.values())[1:] for init in inits]
        found = (p for p in named if p and p[0].kind is not inspect.Parameter.VAR_POSITIONAL)
        return next(found, list(inspect.signature(function).parameters.values()))
    if isinstance(function, cupy.ufunc):
        names = [f"in{i}" for i in range(function.nin)]
        kind = inspect.Parameter
        positional = [kind(n, kind.POSITIONAL_ONLY) for n in names]
        options = [kind(n, kind.KEYWORD_ONLY, default=None) for n in ("out", "dtype", "casting")]
        return positional + options
    return list(inspect.signature(function).parameters.values())


def check(target, node):
    starred = any(isinstance(a, ast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords)
    signature = inspect.Signature(parameters(target))
    bind = signature.bind_partial if starred else signature.bind
    bind(*(a for a in node.args if not isinstance(a, ast.Starred)), **{k.arg: k.value for k in node.keywords if k.arg})


def test_there_are_calls_to_check():
    assert {"cupy.asarray", "cupy.bincount", "cupyx.scipy.sparse.linalg.splu"} <= {target for target, _ in ROW_CALLS}
    assert {"cupy.where", "cupy.sum", "cupy.astype", "cupy.take"} <= {target for target, _ in XP_CALLS}


@pytest.mark.parametrize("call", described(ROW_CALLS))
def test_calls_of_the_row_fit_the_real_signatures(call):
    check(*described(ROW_CALLS)[call])


@pytest.mark.parametrize("call", described(XP_CALLS))
def test_calls_through_the_namespace_fit_the_real_signatures(call):
    check(*described(XP_CALLS)[call])


def test_dtypes_and_constants_of_the_namespace_exist():
    missing = {name for path in MODULES for name in attributes_of_xp(path) if not hasattr(cupy, name)}
    assert missing == set()


def test_a_wrong_keyword_would_be_found():
    call = ast.parse("cupy.bincount(x, weight=y)").body[0].value
    with pytest.raises(TypeError):
        check("cupy.bincount", call)
    with pytest.raises((AttributeError, ImportError)):
        check("cupyx.scipy.sparse.linalg.eigsh_shift_invert", ast.parse("f(x)").body[0].value)


def method_calls():
    """Yield the name and the call of every method that the row calls on an array or a matrix."""
    libraries = imported_names(ast.parse(ROW.read_text()))
    for node in ast.walk(ast.parse(ROW.read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            root = ast.unparse(node.func).partition(".")[0]
            if root not in {*libraries, "host"}:
                yield node.func.attr, node


METHODS = {f"{ast.unparse(node)}": (name, node) for name, node in method_calls() if name != "startswith"}


@pytest.mark.parametrize("call", METHODS)
def test_matrices_have_the_methods_we_call(call):
    name, node = METHODS[call]
    owners = (importlib.import_module("cupyx.scipy.sparse").csr_matrix, cupy.ndarray)
    method = next(getattr(owner, name) for owner in owners if hasattr(owner, name))
    signature = inspect.signature(method)
    signature.bind(None, *node.args, **{keyword.arg: keyword.value for keyword in node.keywords})


def test_there_are_methods_to_check():
    assert {"get", "tocsr", "tocsc", "toarray", "sort_indices", "conj", "multiply", "sum", "max"} <= {
        name for name, _ in METHODS.values()
    }


@pytest.mark.parametrize("name", ["__matmul__", "__add__", "__sub__", "__abs__", "__getitem__", "T", "format"])
def test_matrices_have_the_operations_we_use(name):
    assert hasattr(importlib.import_module("cupyx.scipy.sparse").csr_matrix, name)


@pytest.mark.parametrize("name", ["__dlpack__", "__dlpack_device__", "T", "ravel"])
def test_arrays_have_what_exchange_with_torch_needs(name):
    assert hasattr(cupy.ndarray, name)
