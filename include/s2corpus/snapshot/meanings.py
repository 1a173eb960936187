"""Read the descriptions of the fields of a pydantic model from the docstrings below them.

The docstrings are read on demand. With `use_attribute_docstrings`, pydantic reads them when it creates a model. That takes a tenth
of the run time of a small task, and a third of the time to parse a DAG file.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from functools import cache
from itertools import pairwise

from pydantic import BaseModel


@cache
def read_descriptions(model: type[BaseModel]) -> dict[str, str]:
    """Return the description of each field, inherited fields included. Fields without a docstring are omitted.

    `Field(description=…)` takes precedence over a docstring. A model without source code, for example from a notebook, has only
    those descriptions.
    """
    found = {}
    for base in reversed(model.__mro__):
        if not issubclass(base, BaseModel) or base is BaseModel:
            continue
        try:
            source = inspect.getsource(base)
        except (OSError, TypeError):
            continue
        (defined,) = ast.parse(textwrap.dedent(source)).body
        assert isinstance(defined, ast.ClassDef)
        for field, below in pairwise(defined.body):
            text = below.value.value if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant) else None
            if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and isinstance(text, str):
                found[field.target.id] = inspect.cleandoc(text)
    return found | {name: field.description for name, field in model.model_fields.items() if field.description}
