"""`_core.pyi` says what the compiled module has: names, parameters and their defaults."""

import ast
import inspect
from pathlib import Path

import pytest
import ubauc
from ubauc import _core

STUB = ast.parse((Path(ubauc.__file__).parent / "_core.pyi").read_text())
FUNCTIONS = {node.name: node for node in STUB.body if isinstance(node, ast.FunctionDef)}
CLASSES = {node.name: node for node in STUB.body if isinstance(node, ast.ClassDef)}
CONSTANTS = {node.target.id for node in STUB.body if isinstance(node, ast.AnnAssign)}


def methods(node):
    return {item.name: item for item in node.body if isinstance(item, ast.FunctionDef)}


def decorator(node):
    names = [name.id for name in node.decorator_list]
    return names[0] if names else None


def stated(node):
    """The parameters in the stub: name, kind and default."""
    of = node.args
    assert not (of.posonlyargs or of.vararg or of.kwarg), node.name
    free = len(of.args) - len(of.defaults)
    defaults = [inspect.Parameter.empty] * free + [ast.literal_eval(x) for x in of.defaults]
    found = [(arg.arg, "positional", x) for arg, x in zip(of.args, defaults, strict=True)]
    for arg, default in zip(of.kwonlyargs, of.kw_defaults, strict=True):
        value = inspect.Parameter.empty if default is None else ast.literal_eval(default)
        found.append((arg.arg, "keyword", value))
    return found


def built(function):
    """The same of the module, by its `__text_signature__`."""
    assert function.__text_signature__, function
    kinds = {
        inspect.Parameter.POSITIONAL_ONLY: "positional",
        inspect.Parameter.POSITIONAL_OR_KEYWORD: "positional",
        inspect.Parameter.KEYWORD_ONLY: "keyword",
    }
    parameters = inspect.signature(function).parameters.values()
    return [(p.name, kinds[p.kind], p.default) for p in parameters if p.name != "self"]


def without_self(parameters):
    return [parameter for parameter in parameters if parameter[0] != "self"]


def public(names):
    return {name for name in names if not name.startswith("_")}


def test_names():
    constants = public(CONSTANTS)
    assert public(vars(_core)) == FUNCTIONS.keys() | CLASSES.keys() | constants
    assert constants == {"MAX_COLUMNS", "PAIRS_PER_COLUMN"}
    assert isinstance(_core.MAX_COLUMNS, int)
    assert all(isinstance(share, float) for share in _core.PAIRS_PER_COLUMN)
    assert isinstance(_core.__version__, str)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_function(name):
    assert built(getattr(_core, name)) == stated(FUNCTIONS[name])


@pytest.mark.parametrize("name", CLASSES)
def test_class(name):
    compiled, node = getattr(_core, name), CLASSES[name]
    ours = methods(node)
    assert public(vars(compiled)) == public(ours)
    if "__init__" in ours:
        assert built(compiled) == without_self(stated(ours.pop("__init__")))
    else:
        assert compiled.__text_signature__ is None
    for method, item in ours.items():
        kind, found = decorator(item), inspect.getattr_static(compiled, method)
        assert inspect.isgetsetdescriptor(found) == (kind == "property"), method
        assert isinstance(found, staticmethod) == (kind == "staticmethod"), method
        if kind != "property":
            assert built(getattr(compiled, method)) == without_self(stated(item)), method
