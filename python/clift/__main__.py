"""Entry point of `python -m clift`."""

from clift.cli import main

if __name__ == "__main__":
    main()
