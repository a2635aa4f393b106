"""Writes python/clift/_clift.pyi, the types of the compiled part, from the Rust of the binding.

The signatures in bindings/python/src are the only description: their types become Python's.
`python docs/binding_stub.py` writes; `--check` only says whether the file is up to date.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from pages import ROOT, settle
from python_front import HEAD, PACKAGE, formatted

STUB = PACKAGE / "_clift.pyi"
SOURCES = ROOT / "bindings" / "python" / "src"

NUMPY = {"i64": "int64", "f64": "float64", "f32": "float32", "u8": "uint8", "u32": "uint32"}
NAMES = {
    **dict.fromkeys(("u8", "u16", "u32", "u64", "u128", "i64", "usize", "NonZeroU32"), "int"),
    **dict.fromkeys(("f64", "f32"), "float"),
    **dict.fromkeys(("str", "String"), "str"),
    **dict.fromkeys(("PyAny", "PyString"), "Any"),
    **{"bool": "bool", "PathBuf": "str | os.PathLike[str]", "PyBackedBytes": "bytes"},
    **{"PyDict": "dict[str, Any]", "()": "None", "PyErr": "BaseException"},
}
PLAIN = ("PyResult", "Bound", "Py", "PyRef")
# Python's special methods of which Rust tells less.
SPECIAL = {
    "__eq__": "def __eq__(self, other: object) -> bool: ...",
    "__reduce__": "def __reduce__(self) -> tuple[Any, ...]: ...",
}


class Function(NamedTuple):
    """A function of the binding as Rust has it."""

    attributes: str
    name: str
    arguments: list[tuple[str, str]]
    returns: str


class File:
    """One source of the binding; `aliases` are those of all sources."""

    def __init__(self, text: str, classes: dict[str, str], aliases: dict[str, str]) -> None:
        plain = re.sub(r"^ *//.*\n", "", text, flags=re.MULTILINE)
        self.text = re.sub(r" +//.*", "", plain)
        self.classes = classes
        self.aliases = aliases | _aliases(self.text)
        either = r"#\[derive\(IntoPyObject\)\]\s*pub\(crate\) enum (\w+) \{(.*?)\n\}"
        self.choices = {
            name: re.findall(r"\w+\((.*?)\)", body)
            for name, body in re.findall(either, self.text, re.DOTALL)
        }

    def functions(self, text: str) -> list[Function]:
        """The functions in a part of it."""
        pattern = re.compile(
            r"((?:^[ ]*#\[.*?\]\n)*)"
            r"^[ ]*(?:pub\(crate\) )?fn (\w+)(?:<.*?>)?\((.*?)\)\s*(?:->\s*(.*?))?\s*\{$",
            re.MULTILINE | re.DOTALL,
        )
        return [
            Function(attributes, name, list(map(_argument, _parted(arguments))), returns or "()")
            for attributes, name, arguments, returns in pattern.findall(text)
        ]

    def exported(self) -> dict[str, str]:
        """Stubs of its functions by their names in Rust."""
        return {
            one.name: self.stub(one, "")
            for one in self.functions(self.text)
            if "#[pyfunction" in one.attributes
        }

    def class_of(self, name: str) -> str:
        """The stub of a class."""
        found = re.search(rf"#\[pymethods\]\nimpl {name} \{{\n(.*?)\n\}}", self.text, re.DOTALL)
        methods = self.functions(found[1]) if found else []
        stubs = self.fields(name) + [self.stub(one, self.classes[name]) for one in methods]
        body = "\n".join(stubs) or "..."
        indented = "\n".join(f"    {line}" for line in body.splitlines())
        return f"\n@final\nclass {self.classes[name]}:\n{indented}\n"

    def fields(self, name: str) -> list[str]:
        """The stubs of the fields of a class that Python reads."""
        pattern = rf"#\[pyclass([^\]]*)\]\s*pub\(crate\) struct {name} \{{\n(.*?)\n\}}"
        found = re.search(pattern, self.text, re.DOTALL)
        options, body = found.groups() if found else ("", "")
        fields = re.findall(r"^ *(#\[pyo3\(get\)\]\n *)?(\w+): (.*),$", body, re.MULTILINE)
        return [
            f"@property\ndef {field}(self) -> {self.python(kind, '')}: ..."
            for read, field, kind in fields
            if read or "get_all" in options
        ]

    def stub(self, one: Function, owner: str) -> str:
        """The stub of a function, or of a method of `owner`."""
        name = "__new__" if "#[new]" in one.attributes else one.name
        renamed = re.search(r'#\[pyo3\(name = "(\w+)"\)\]', one.attributes)
        name = renamed[1] if renamed else name
        if name in SPECIAL:
            return SPECIAL[name]
        plain = [
            (argument, kind)
            for argument, kind in one.arguments
            if kind != "Python<'_>" and kind != "Python<'py>" and "Self" not in kind and argument
        ]
        kinds = dict(plain)
        told = re.search(r"signature = \((.*?)\)\)\]", one.attributes, re.DOTALL)
        order = [part.partition("=") for part in _parted(told[1])] if told else []
        spelled = order or [(argument, "", "") for argument, _ in plain]
        arguments = ["cls"] if name == "__new__" else ["self"] if owner else []
        for argument, _, default in spelled:
            if argument == "*":
                arguments.append("*")
                continue
            usual = {"": "", "Vec::new()": " = ()"}.get(default, f" = {default}")
            kind = self.python(kinds[argument], owner, given=True)
            arguments.append(f"{argument}: {kind}{usual}")
        returns = self.python(one.returns, owner)
        returns = owner if name == "__new__" else returns
        decorator = "@property\n" if "#[getter]" in one.attributes else ""
        if "#[setter]" in one.attributes:
            name = name.removeprefix("set_")
            decorator = f"@{name}.setter\n"
        return f"{decorator}def {name}({', '.join(arguments)}) -> {returns}: ..."

    def python(self, rust: str, owner: str, given: bool = False) -> str:
        """The Python type of one of Rust's; `given`: of an argument."""

        def inner(part: str) -> str:
            return self.python(part, owner, given)

        kind = re.sub(r"&(?:'\w+ )?|'\w+\s*,\s*|<'\w+>|\bmut ", "", " ".join(rust.split()))
        kind = kind.strip().rstrip(",").removeprefix("pyo3::").strip()
        if kind == "Self" or kind in NAMES | self.classes:
            return {"Self": owner, **NAMES, **self.classes}[kind]
        if kind in self.aliases:
            return inner(self.aliases[kind])
        if kind in self.choices:
            return " | ".join(map(inner, self.choices[kind]))
        if kind[0] in "([":
            item, _, count = kind[1:-1].rpartition("; ")
            parts = [item] * int(count) if kind[0] == "[" else _parted(kind[1:-1])
            return f"tuple[{', '.join(map(inner, parts))}]"
        outer, _, rest = kind.partition("<")
        argument = rest.removesuffix(">")
        if outer in ("PyArray1", "PyReadonlyArray1"):
            return f"NDArray[np.{NUMPY[argument]}]"
        if outer == "BTreeMap":
            return f"dict[{', '.join(map(inner, _parted(argument)))}]"
        wrapped = "Sequence[{}]" if given else "list[{}]"
        around = {"Vec": wrapped, "Option": "{} | None"} | dict.fromkeys(PLAIN, "{}")
        if outer in around:
            return around[outer].format(inner(argument)).replace("Any | None", "Any")
        raise SystemExit(f"{STUB.name}: no Python type for `{rust}`; add it to docs/{__name__}.py")


def _argument(text: str) -> tuple[str, str]:
    pattern, _, kind = text.partition(": ")
    return (pattern.removeprefix("mut ").strip(), kind) if kind else ("", pattern)


def _aliases(text: str) -> dict[str, str]:
    """Names that a source gives to types."""
    alias = re.compile(
        r"^(?:pub\(crate\) )?type (\w+)(?:<.*?>)? =\s*(.*?);$", re.MULTILINE | re.DOTALL
    )
    return {name: kind for name, kind in alias.findall(text) if "fn(" not in kind}


def _parted(text: str) -> list[str]:
    """Parts between commas outside brackets."""
    parts, depth, here = [], 0, ""
    for letter in text:
        depth += (letter in "([<") - (letter in ")]>")
        if letter == "," and not depth:
            parts.append(here)
            here = ""
        else:
            here += letter
    return [part.strip() for part in [*parts, here] if part.strip()]


def _module(path: Path) -> str:
    """The path of a source's module in Rust."""
    return "::".join(path.relative_to(SOURCES).with_suffix("").parts).removesuffix("::mod")


def stub() -> str:
    """The types of the compiled part."""
    texts = {_module(path): path.read_text() for path in sorted(SOURCES.rglob("*.rs"))}
    declared = re.compile(r"#\[pyclass(?:\((.*?)\))?\]\s*pub\(crate\) struct (\w+)", re.DOTALL)
    classes = {}
    for text in texts.values():
        for options, name in declared.findall(text):
            told = re.search(r'name = "(\w+)"', options)
            classes[name] = told[1] if told else name
    shared = {name: kind for text in texts.values() for name, kind in _aliases(text).items()}
    module = texts["lib"]
    constants = re.findall(r"const (\w+): (&?\w+)", module)
    parts = [f"{name}: {NAMES[kind.strip('&')]}\n" for name, kind in constants]
    exported = re.findall(r"^ +([a-z_:]+)::(?:\{(.*?)\}|(\w+)),$", module, re.DOTALL | re.MULTILINE)
    for source, names, only in exported:
        file = File(texts[source], classes, shared)
        functions = file.exported()
        for name in _parted(names) or [only]:
            parts.append(file.class_of(name) if name in classes else functions[name] + "\n")
    return (
        HEAD.replace("python_front", "binding_stub").replace(
            "core/src or docs/python_words.toml", "bindings/python/src"
        )
        + '"""The compiled part of `clift`; import `clift` instead."""\n\n'
        + "import os\nfrom collections.abc import Sequence\nfrom typing import Any, final\n\n"
        + "import numpy as np\nfrom numpy.typing import NDArray\n\n"
        + "".join(parts)
    )


if __name__ == "__main__":
    settle({STUB: formatted(stub(), STUB)})
