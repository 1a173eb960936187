"""What the fields of a model mean: the docstrings below them.

Read where they are asked for: pydantic would read them as each model is made (`use_attribute_docstrings`), which is a tenth of what a
small task's process costs, and a third of what reading a DAG file does.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from functools import cache
from itertools import pairwise

from pydantic import BaseModel


@cache
def meanings(model: type[BaseModel]) -> dict[str, str]:
    """Name of a field, its own or an inherited one → what it means; a field without a docstring has no entry.

    `Field(description=…)` comes before a docstring. A model without source, made in a notebook as it may be, has only those.
    """
    found = {}
    for part in reversed(model.__mro__):
        if not issubclass(part, BaseModel) or part is BaseModel:
            continue
        try:
            source = inspect.getsource(part)
        except (OSError, TypeError):
            continue
        (defined,) = ast.parse(textwrap.dedent(source)).body
        assert isinstance(defined, ast.ClassDef)
        for field, below in pairwise(defined.body):
            said = below.value.value if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant) else None
            if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and isinstance(said, str):
                found[field.target.id] = inspect.cleandoc(said)
    return found | {name: field.description for name, field in model.model_fields.items() if field.description}
