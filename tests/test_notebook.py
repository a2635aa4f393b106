"""The notebook in examples/: every cell runs, and shows what it is there to show."""

import warnings
from pathlib import Path

import pytest

FILE = Path(__file__).parent.parent / "examples" / "notebook.ipynb"


@pytest.mark.filterwarnings("default")
@pytest.mark.long
def test_the_notebook_runs_from_top_to_bottom(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of Jupyter's own, about its folders
        import nbformat
        from nbclient import NotebookClient

    notebook = nbformat.read(FILE, as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells), "kept without its outputs"
    client = NotebookClient(notebook, timeout=500, resources={"metadata": {"path": str(tmp_path)}})
    client.execute()
    shown = [
        output.data
        for cell in notebook.cells
        for output in cell.get("outputs", ())
        if output.output_type == "execute_result"
    ]
    written = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert len(shown) == len(written)
    pages = [data["text/html"] for data in shown if "text/html" in data]
    assert any("<th>Goodput</th>" in page for page in pages)
    assert any("A page over GEO" in page and "HARQ(10/12)" in page for page in pages)
    assert sum("image/png" in data for data in shown) == 3
